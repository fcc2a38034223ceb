"""What is wrong with values that are well-formed, and takes more than their declaration to tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.algorithm.periods import fault_of, fault_of_zone
from headgate.config.origins import Findings, Section
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import Options
from headgate.options.units import format_duration

_PERIODS, _ZONE = "excluded.periods", "excluded.periods.time-zone"
_MAX_LAG_TIME, _RECOVERY_TIME, _RESTART_TIME = "sla.max-lag-time", "sla.recovery-time", "restart.time"

_DEFAULTS = AutoscalerOptions()


def check(options: type[Options], values: Mapping[str, Any], section: Section, findings: Findings) -> bool:
    """
    Note faults and warnings about the values that were read for a group, by field.

    Returns:
        Whether there are no faults.
    """
    if not issubclass(options, AutoscalerOptions) or not values.get("enabled", True):
        return True
    for key, text in _doubts(values, section):
        findings.warn(section.origin_of(key), text)
    faults = tuple(_faults(values))
    for key, text in faults:
        findings.fault(section.origin_of(key), text)
    return not faults


def _faults(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((_PERIODS, fault) for text in values.get("excluded_periods", ()) if (fault := fault_of(text)))
    zone = values.get("excluded_periods_time_zone")
    if zone is not None and (fault := fault_of_zone(zone)):
        yield _ZONE, fault


def _doubts(values: Mapping[str, Any], section: Section) -> Iterator[tuple[str, str]]:
    """Warn of an agreement that the assumed downtime alone breaks, where one of the two is set."""
    sla, restart = values.get("sla", _DEFAULTS.sla), values.get("restart_time", _DEFAULTS.restart_time)
    agreed = (
        (_MAX_LAG_TIME, sla.max_lag_time, "nothing ever shrinks"),
        (_RECOVERY_TIME, sla.recovery_time, "every rescale asks for more than twice the rate"),
    )
    for key, limit, consequence in agreed:
        if limit is not None and limit < restart and not section.settings.keys().isdisjoint({key, _RESTART_TIME}):
            shorter = f"{format_duration(limit)} is shorter than {_RESTART_TIME} {format_duration(restart)}"
            hint = f"Hint: set {_RESTART_TIME} to what a rescale takes, until enough of them were seen"
            yield key, f"{shorter}: {consequence}. {hint}"
