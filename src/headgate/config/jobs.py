"""The options of one job: the service's for it, and over them what the Flink job's own configuration says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from headgate.config.beneath import laid_beneath
from headgate.config.names import canonical, find, spellings
from headgate.config.origins import Findings, Leaf, Origin, Section
from headgate.config.plugins import catalog_of, check_names
from headgate.config.signals import refuse_undeclared, with_signals
from headgate.config.validation import FaultyError, below, build
from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import LEGACY_PREFIX, PREFIX
from headgate.options.reactive import ExecutionMode
from headgate.options.service import JobOptions, ServiceOptions
from headgate.plugins.catalog import Catalog, Tables

SOURCE = "the job's configuration"
_OURS = (PREFIX, LEGACY_PREFIX, "headgate.")
_CLUSTERS_MODE = "scheduler-mode"
_BY_NAME = {"execution-mode", _CLUSTERS_MODE}
"""Keys without a prefix that concern Headgate where they name one of its modes: programs have parameters so called."""
_GROUP = "autoscaler"
_NONE_HOLDS = (
    f"{SOURCE}: none of its options holds; the service's hold instead, "
    "and this job is only advised until they are right"
)
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """The options that hold for a job, and what is to be said of its own configuration."""

    options: AutoscalerOptions
    faults: tuple[str, ...] = ()
    """Every fault of the job's own configuration; there are none, or none of it holds."""
    warnings: tuple[str, ...] = ()
    """Old names in it, unknown options, and those that it may not set."""

    @property
    def told(self) -> tuple[str, ...]:
        """All that the job's owner should hear of."""
        return (*self.faults, *([_NONE_HOLDS] if self.faults else []), *self.warnings)


def for_job(
    options: ServiceOptions,
    key: JobKey,
    own: Mapping[str, str] = _NOTHING,
    *,
    beneath: Mapping[str, str] = _NOTHING,
) -> JobSettings:
    """
    Give the options of one job.

    Those of the last entry of `jobs` that matches it, else the general ones; `*` and `?` are the only wildcards: a
    bracket stands for itself, as job names hold them. Over them the job's own, as far as a job may set them: what
    concerns the process (addresses, stores, classes) is the operator's. If these are faulty, none of them holds, and
    the job is not scaled: the owner may have meant to forbid it. The cluster's `scheduler-mode`, which is part of every
    job's configuration, holds only where neither the operator nor the job says another mode.

    Args:
        options: the service's.
        key: the job, by the name that its owner gave it.
        own: the job's whole configuration, of which what does not concern Headgate is left aside.
        beneath: defaults of jobs of its kind, relative to `job.autoscaler.`.
    """
    service = with_signals(laid_beneath(_of_service(options, key), beneath), options.signals, key)
    findings = Findings()
    section = _readable(_said(own, service), findings)
    if not section.settings:
        return JobSettings(options=service, warnings=findings.warnings)
    try:
        laid = overlaid(service, section, findings, plugins=catalog_of(Tables.of(options)))
        refuse_undeclared(laid, options.signals, section, findings)
        laid = with_signals(laid, options.signals, key)
        return JobSettings(options=laid, warnings=findings.warnings)
    except FaultyError:
        advised = replace(service, scaling_enabled=False)
        return JobSettings(options=advised, faults=findings.faults, warnings=findings.warnings)


def ours(own: Mapping[str, str]) -> Mapping[str, str]:
    """Give what concerns Headgate of a job's whole configuration: all that need be remembered of it."""
    return {key: text for key, text in own.items() if key.startswith(_OURS) or (key in _BY_NAME and _is_mode(text))}


def _is_mode(text: str) -> bool:
    return text.strip().lower() in frozenset(ExecutionMode)


def _said(own: Mapping[str, str], service: AutoscalerOptions) -> Mapping[str, str]:
    """Leave the cluster's mode aside where the operator has set one."""
    said = ours(own)
    is_set = service.execution_mode is not None
    return {key: text for key, text in said.items() if not (is_set and key == _CLUSTERS_MODE)}


def _of_service(options: ServiceOptions, key: JobKey) -> AutoscalerOptions:
    matching = (entry.autoscaler for entry in reversed(options.jobs) if fits(str(key), entry.match))
    return next(matching, options.autoscaler)


def overlaid(
    service: AutoscalerOptions, section: Section, findings: Findings, *, plugins: Catalog
) -> AutoscalerOptions:
    """
    Lay a section with the keys of a job over options.

    Raises:
        FaultyError: it cannot be made; `findings` says why.
    """
    named = canonical(JobOptions, section, findings)
    check_names(named, plugins, findings, prefix=f"{_GROUP}.")
    built = build(AutoscalerOptions, below(_GROUP, named), findings, base=service)
    if findings.faults:
        raise FaultyError
    return built


def _readable(own: Mapping[str, str], findings: Findings) -> Section:
    settings = dict(_settable(own, findings))
    return Section(settings=settings, origin=Origin(source=SOURCE))


def _settable(own: Mapping[str, str], findings: Findings) -> Iterator[tuple[str, Leaf]]:
    """Give the settings that a job may make, and warn of the others under Headgate's prefixes."""
    for key, text in own.items():
        origin = Origin(source=SOURCE, key=key)
        if find(spellings(JobOptions), key):
            yield key, Leaf(text=text, origin=origin)
        elif find(spellings(ServiceOptions), key):
            findings.warn(origin, "ignored, a job may not set it. Hint: it belongs into Headgate's own configuration")
        else:
            findings.warn(origin, "ignored, an unknown option")
