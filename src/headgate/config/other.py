"""Other options to try than those that hold: read once, then laid over those of any job."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from headgate.config.names import canonical, find, spellings
from headgate.config.origins import Findings, Items, Leaf, Origin, Section
from headgate.config.sources import read_file
from headgate.config.validation import FaultyError, below, build
from headgate.errors import ConfigError
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import PREFIX
from headgate.options.service import JobOptions

_GROUP = "autoscaler"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherOptions:
    """Options of a job that are to hold instead of its own; a value, which may be pickled."""

    section: Section

    @classmethod
    def read(cls, settings: Mapping[str, str], file: Path | None = None) -> OtherOptions:
        """
        Read options by their keys, with `job.autoscaler.` or without.

        Args:
            settings: texts by key; stronger than the file.
            file: YAML or TOML; None reads none.

        Raises:
            ConfigError: every fault together: unknown keys, and values that could not stand over the defaults.
        """
        findings = Findings()
        written: dict[str, Leaf | Items] = dict(read_file(file, findings).settings) if file else {}
        for key, text in settings.items():
            written[key] = Leaf(text=text, origin=Origin(source="--options", key=key))
        origin = Origin(source=str(file) if file else "--options")
        whole = Section(settings={_whole(key): setting for key, setting in written.items()}, origin=origin)
        other = cls(section=below(_GROUP, canonical(JobOptions, whole, findings)))
        other._built(AutoscalerOptions(), findings)
        return other

    def over(self, options: AutoscalerOptions) -> AutoscalerOptions:
        """
        Give a job's options with these over them.

        Raises:
            ConfigError: together they are none.
        """
        if not self.section.settings:
            return options
        return replace(self._built(options, Findings()), signals_in_force=options.signals_in_force)

    def _built(self, options: AutoscalerOptions, findings: Findings) -> AutoscalerOptions:
        with suppress(FaultyError):
            built = build(AutoscalerOptions, self.section, findings, base=options)
        if findings.faults:
            raise ConfigError(findings.faults)
        return built

    def __bool__(self) -> bool:
        """Tell whether anything is to be other."""
        return bool(self.section.settings)


def _whole(key: str) -> str:
    return key if find(spellings(JobOptions), key) else f"{PREFIX}{key}"
