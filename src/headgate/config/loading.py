"""All sources together: file, environment, flags, the later ones stronger; general options under those of an entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headgate.config.names import canonical
from headgate.config.origins import Findings, Items, Leaf, Origin, Section
from headgate.config.plugins import check_plugins
from headgate.config.sources import read_environment, read_file, read_flags
from headgate.config.standalone import split_off, taken_over
from headgate.config.validation import FaultyError, build
from headgate.errors import ConfigError
from headgate.options.declaration import PREFIX
from headgate.options.service import ServiceOptions

_JOBS = "jobs"
_CLUSTERS, _TIMEOUT = "clusters", "request-timeout"
_GENERAL_TIMEOUT = f"{PREFIX}flink.rest-client.timeout"
_JOB_PREFIX = "autoscaler."


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The options in force and how they came about."""

    options: ServiceOptions
    origins: Mapping[str, Origin]
    """Where each option is set, by declared key such as `clusters[0].url`; those at their defaults are left out."""
    warnings: tuple[str, ...]
    """Old names and suspicious environment variables, each with its place."""


def load(path: Path | None, environ: Mapping[str, str], flags: Mapping[str, str]) -> Loaded:
    """
    Read the configuration of the service.

    Args:
        path: a YAML or TOML file; None reads none.
        environ: the environment; its `HEADGATE_*` variables are stronger than the file.
        flags: texts by dotted key, stronger than both.

    Raises:
        ConfigError: every fault in all the sources together, each with place, key, what was found and expected.
    """
    findings = Findings()
    split = split_off(_sections(path, environ, flags, findings), findings)
    named = [canonical(ServiceOptions, section, findings) for section in split.sections]
    merged = _merge(named, taken_over(split.standalone, findings))
    complete = _with_general_options(_with_general_timeout(merged))
    check_plugins(complete, findings)
    try:
        options = build(ServiceOptions, complete, findings)
    except FaultyError as error:
        raise ConfigError(findings.faults) from error
    if findings.faults:
        raise ConfigError(findings.faults)
    return Loaded(options=options, origins=dict(_origins(merged)), warnings=findings.warnings)


def _sections(
    path: Path | None, environ: Mapping[str, str], flags: Mapping[str, str], findings: Findings
) -> list[Section]:
    written = [read_file(path, findings)] if path else []
    written += [read_environment(environ), read_flags(flags)]
    return written


def _merge(sections: Sequence[Section], weakest: Mapping[str, Leaf | Items]) -> Section:
    settings = {**weakest, **{key: setting for section in sections for key, setting in section.settings.items()}}
    is_complete = all(section.is_complete for section in sections)
    return Section(settings=settings, origin=sections[0].origin, is_complete=is_complete)


def _with_general_options(section: Section) -> Section:
    """Put the general autoscaler options under those of each entry of `jobs`."""
    general = {
        _JOB_PREFIX + key.removeprefix(PREFIX): setting
        for key, setting in section.settings.items()
        if key.startswith(PREFIX)
    }
    return _with_defaults(section, _JOBS, general)


def _with_general_timeout(section: Section) -> Section:
    """Put the general time limit of requests under that of each cluster."""
    general = section.settings.get(_GENERAL_TIMEOUT)
    return section if general is None else _with_defaults(section, _CLUSTERS, {_TIMEOUT: general})


def _with_defaults(section: Section, key: str, defaults: Mapping[str, Leaf | Items]) -> Section:
    """Put settings under those of each entry of a list."""
    entries = section.settings.get(key)
    if not isinstance(entries, Items):
        return section
    items = [
        replace(item, settings={**defaults, **item.settings}) if isinstance(item, Section) else item
        for item in entries.items
    ]
    return replace(section, settings={**section.settings, key: replace(entries, items=tuple(items))})


def _origins(section: Section, prefix: str = "") -> Iterator[tuple[str, Origin]]:
    for key, setting in section.settings.items():
        if isinstance(setting, Items) or setting.text is not None:
            yield prefix + key, setting.origin
        items = setting.items if isinstance(setting, Items) else ()
        for index, item in enumerate(items):
            if isinstance(item, Section):
                yield from _origins(item, f"{prefix}{key}[{index}].")
