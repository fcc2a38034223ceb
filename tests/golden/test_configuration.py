"""The reference's cases of options that are refused, and of times in which nothing is scaled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from headgate.algorithm.periods import fault_of, is_excluded
from headgate.config import load
from headgate.errors import ConfigError
from headgate.options.declaration import PREFIX
from headgate.testing.golden import Case

CLUSTERS = {"HEADGATE_CLUSTERS": "[{name: local, url: 'http://127.0.0.1:8081'}]"}
ORDER = (
    "scale-down.max-factor",
    "scale-up.max-factor",
    "utilization.target",
    "target.utilization.boundary",
    "utilization.max",
    "utilization.min",
    "memory.gc-pressure.threshold",
    "memory.heap-usage.threshold",
    "observed-scalability.coefficient-min",
    "scaling.effectiveness.threshold",
    "memory.tuning.overhead",
    "excluded.periods",
)
"""The order in which the reference looks at its options; it reports the first fault only."""
NAMED = re.compile(rf"(?<![\w.-])(?:{re.escape(PREFIX)})?({'|'.join(map(re.escape, ORDER))})(?![\w-])(?!\.\w)")


def test_config_validation(case: Case) -> None:
    """Of all the faults that are told, the first in the reference's order is the one that the reference reports."""
    offending = {NAMED.findall(fault)[0] for fault in _faults(case.config)}
    first = next((PREFIX + key for key in ORDER if key in offending), None)
    assert first == case.expected["offending_option"]
    assert (not offending) == case.expected["valid"]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_excluded_periods(case: Case, zone: str) -> None:
    """Local time counts, whichever the zone."""
    at = datetime.fromisoformat(f"{case.inputs['local_time']}{OFFSETS[zone]}").astimezone(UTC)
    matching = is_excluded(case.inputs["expressions"], at, zone)
    assert (matching is not None) == case.expected["excluded"]


def test_excluded_period_validation(case: Case) -> None:
    """One faulty entry makes the list faulty."""
    faults = [fault for text in case.inputs["expressions"] if (fault := fault_of(text))]
    assert (not faults) == case.expected["valid"]


OFFSETS = {"UTC": "+00:00", "America/New_York": "-05:00", "Asia/Kolkata": "+05:30"}
"""In December, when the cases happen."""


def _faults(config: Mapping[str, Any]) -> tuple[str, ...]:
    flags = {key: _written(value) for key, value in config.items()}
    try:
        load(None, CLUSTERS, flags)
    except ConfigError as error:
        return error.faults
    return ()


def _written(value: Any) -> str:
    return ";".join(value) if isinstance(value, list) else str(value)
