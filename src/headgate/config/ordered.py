"""Options that people have ordered for a job: over all that the service's file and the job itself say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headgate.config.jobs import JobSettings, overlaid
from headgate.config.names import find, spellings
from headgate.config.origins import Findings, Leaf, Origin, Section
from headgate.config.plugins import catalog_of
from headgate.config.signals import refuse_undeclared, with_signals
from headgate.config.validation import FaultyError
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import PREFIX
from headgate.options.service import JobOptions, ServiceOptions
from headgate.options.signals import SignalOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.registry import Registry

SOURCE = "headgate set"
"""The origin of an ordered option, in faults."""

_GROUP = "autoscaler."


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """What ordered options may name, and how they are laid over those of a job."""

    catalog: Catalog = field(default_factory=lambda: Catalog(Registry(), Tables()))
    signals: tuple[SignalOptions, ...] = ()

    @classmethod
    def of(cls, options: ServiceOptions) -> Overlay:
        """Give what the options of a service allow."""
        return cls(catalog=catalog_of(Tables.of(options)), signals=options.signals)

    def laid(self, key: JobKey, options: AutoscalerOptions, ordered: Mapping[str, str]) -> JobSettings:
        """
        Lay ordered options over those of a job.

        What is faulty is left out and told: it was right when it was ordered, and an upgrade or another file has made
        it wrong since.
        """
        left, faults = dict(ordered), list[str]()
        while left:
            findings = Findings()
            try:
                return JobSettings(options=self._over(key, options, left, findings), faults=tuple(faults))
            except FaultyError:
                faults += findings.faults
                left = _without_faulty(left, findings.faults)
        return JobSettings(options=options, faults=tuple(faults))

    def _over(
        self, key: JobKey, options: AutoscalerOptions, ordered: Mapping[str, str], findings: Findings
    ) -> AutoscalerOptions:
        section = Section(
            settings={name: Leaf(text=text, origin=_origin(name)) for name, text in ordered.items()},
            origin=Origin(source=SOURCE),
        )
        laid = overlaid(options, section, findings, plugins=self.catalog)
        refuse_undeclared(laid, self.signals, section, findings)
        return with_signals(laid, self.signals, key)


def confirm(options: ServiceOptions, job: JobKey | None, ordered: Mapping[str, str]) -> None:
    """
    Refuse options that could not hold for a job, or with None for any job of the service's file.

    Raises:
        ConfigError: every fault.
    """
    overlay, faults = Overlay.of(options), dict[str, None]()
    for base in _bases(options, job):
        faults.update(dict.fromkeys(overlay.laid(job or JobKey("", ""), base, ordered).faults))
    if faults:
        raise ConfigError(list(faults))


def _bases(options: ServiceOptions, job: JobKey | None) -> Iterator[AutoscalerOptions]:
    """Give the options that those of a job, or of any job, are laid over."""
    entries = [entry for entry in reversed(options.jobs) if job is None or fits(str(job), entry.match)]
    if job is None or not entries:
        yield options.autoscaler
    yield from (entry.autoscaler for entry in (entries if job is None else entries[:1]))


def full_key(written: str) -> str:
    """
    Give the declared key of an option of jobs; what all of them begin with need not be written.

    Raises:
        ConfigError: there is no such option of jobs.
    """
    known = spellings(JobOptions)
    found = find(known, written) or find(known, PREFIX + written)
    if found is None or not found.key.startswith(_GROUP):
        findings = Findings()
        try:
            section = Section(settings={written: Leaf(text="", origin=_origin(written))}, origin=Origin(source=SOURCE))
            overlaid(AutoscalerOptions(), section, findings, plugins=Catalog(Registry(), Tables()))
        except FaultyError as error:
            raise ConfigError(findings.faults) from error
        raise ConfigError([f"{SOURCE}: {written}: no option of jobs"])
    return found.declaration.apart[0] if found.declaration.apart else PREFIX + found.key.removeprefix(_GROUP)


def _origin(key: str) -> Origin:
    return Origin(source=SOURCE, key=key)


def _without_faulty(ordered: Mapping[str, str], faults: tuple[str, ...]) -> dict[str, str]:
    """Leave out the options that faults name; all of them where they name none."""
    named = {key for key in ordered if any(fault.startswith(f"{SOURCE}: {key}: ") for fault in faults)}
    return {key: text for key, text in ordered.items() if named and key not in named}
