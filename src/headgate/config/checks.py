"""What is wrong with values that are well-formed, and takes more than their declaration to tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.algorithm.periods import fault_of, fault_of_zone
from headgate.config.origins import Findings, Section
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import Options

_PERIODS, _ZONE = "excluded.periods", "excluded.periods.time-zone"


def check(options: type[Options], values: Mapping[str, Any], section: Section, findings: Findings) -> bool:
    """
    Note faults and warnings about the values that were read for a group, by field.

    Returns:
        Whether there are no faults.
    """
    if not issubclass(options, AutoscalerOptions) or not values.get("enabled", True):
        return True
    faults = tuple(_faults(values))
    for key, text in faults:
        findings.fault(section.origin_of(key), text)
    return not faults


def _faults(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((_PERIODS, fault) for text in values.get("excluded_periods", ()) if (fault := fault_of(text)))
    zone = values.get("excluded_periods_time_zone")
    if zone is not None and (fault := fault_of_zone(zone)):
        yield _ZONE, fault
