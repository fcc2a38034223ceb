"""Scenarios from YAML or TOML files, by the same machinery that reads the service's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headgate.config.names import canonical
from headgate.config.origins import Findings, Section
from headgate.config.sources import read_file, read_flags
from headgate.config.validation import FaultyError, build
from headgate.errors import ConfigError
from headgate.simulate.scenario import Scenario


def read_scenario(path: Path, flags: Mapping[str, str]) -> Scenario:
    """
    Read a scenario.

    Args:
        path: a YAML or TOML file.
        flags: texts by dotted key, stronger than the file.

    Raises:
        ConfigError: every fault together, each with its place, what was found and what was expected.
    """
    findings = Findings()
    written = [canonical(Scenario, section, findings) for section in (read_file(path, findings), read_flags(flags))]
    try:
        scenario = build(Scenario, _merged(written), findings)
    except FaultyError as error:
        raise ConfigError(findings.faults) from error
    if findings.faults:
        raise ConfigError(findings.faults)
    return scenario


def _merged(sections: list[Section]) -> Section:
    settings = {key: setting for section in sections for key, setting in section.settings.items()}
    complete = all(section.is_complete for section in sections)
    return Section(settings=settings, origin=sections[0].origin, is_complete=complete)
