"""
What a vertex's metrics, aggregated over its subtasks, say by the reference autoscaler's rules (its `ScalingMetrics`).

The counts hold always. The gauges of rates and times, moving averages of about a minute, are read where the counters
that tell the same sooner are not there, and for a job that wants the reference's own numbers. Missing is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.algorithm.observed import observed_rate
from headgate.engines.flink.names import FlinkMetric
from headgate.engines.flink.numbers import number
from headgate.options.autoscaler import BusyTimeAggregator


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A metric over the subtasks of a vertex; NaN is unknown."""

    min: float = math.nan
    max: float = math.nan
    avg: float = math.nan
    sum: float = math.nan


Gauges = Mapping[FlinkMetric, Aggregate]

_NOTHING = Aggregate()
_MILLIS = 1000


def read_aggregates(answer: Any) -> dict[str, Aggregate]:
    """Read a list of metrics aggregated over subtasks, by name."""
    return {entry["id"]: read_aggregate(entry) for entry in answer}


def read_aggregate(entry: Mapping[str, Any]) -> Aggregate:
    """Read one aggregate; what is absent, NaN or infinite is unknown."""
    return Aggregate(**{name: _known(entry.get(name)) for name in ("min", "max", "avg", "sum")})


def merge(values: Mapping[str, Aggregate], selected: Mapping[str, FlinkMetric]) -> dict[FlinkMetric, Aggregate]:
    """Give each metric the aggregate of all its names that were answered, like the lags of a chain of two sources."""
    answered = {
        metric: [values[n] for n in selected if selected[n] is metric and n in values] for metric in FlinkMetric
    }
    return {metric: found[0] if len(found) == 1 else _together(found) for metric, found in answered.items() if found}


def lag_of(gauges: Gauges) -> float:
    """Give the records that wait; 0 without such a metric."""
    return gauges[FlinkMetric.PENDING_RECORDS].sum if FlinkMetric.PENDING_RECORDS in gauges else 0.0


def load_of(gauges: Gauges, aggregator: BusyTimeAggregator) -> float:
    """Give LOAD, 0 to about 1; NaN for a legacy source, which has no busy time and so cannot be scaled."""
    busy: float = getattr(gauges.get(FlinkMetric.BUSY_TIME_PER_SEC, _NOTHING), aggregator.value.lower())
    return _not_negative(busy) / _MILLIS


def records_read(of_task: float, gauges: Gauges) -> float:
    """
    Give the records that a source has read.

    It reads nothing from the network, so its task mostly counts 0; then its operator's input counts, and when that is
    0 too (not every connector counts it) its operator's output.
    """
    operator = (
        gauges.get(metric, _NOTHING).sum
        for metric in (FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN, FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT)
    )
    return _not_negative(_first_counted((of_task, *operator)))


def observed_of(gauges: Gauges, lag_threshold_s: int, carried: float) -> float:
    """Give OBSERVED_TPR of a source; NaN when nothing is known, see `algorithm.observed`."""
    rates = (
        gauges[metric].sum
        for metric in (
            FlinkMetric.SOURCE_TASK_NUM_RECORDS_IN_PER_SEC,
            FlinkMetric.SOURCE_TASK_NUM_RECORDS_OUT_PER_SEC,
        )
        if metric in gauges
    )
    return observed_rate(
        _not_negative(_first_counted(rates)),
        lag_of(gauges),
        gauges.get(FlinkMetric.BACKPRESSURE_TIME_PER_SEC, _NOTHING).avg / _MILLIS,
        lag_threshold_s,
        carried,
    )


def _together(parts: Iterable[Aggregate]) -> Aggregate:
    known = list(parts)
    return Aggregate(
        min=min((part.min for part in known if not math.isnan(part.min)), default=math.nan),
        max=max((part.max for part in known if not math.isnan(part.max)), default=math.nan),
        sum=_total(part.sum for part in known),
    )


def _total(values: Iterable[float]) -> float:
    """Add what is known; NaN when nothing is."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) if known else math.nan


def _first_counted(values: Iterable[float]) -> float:
    """Give the first number that is not 0; 0 when all known ones are, NaN when none is known."""
    known = [value for value in values if not math.isnan(value)]
    return next((value for value in known if value), 0.0 if known else math.nan)


def _not_negative(value: float) -> float:
    return value if math.isnan(value) else max(0.0, value)


def _known(value: Any) -> float:
    found = number(value)
    return math.nan if found is None else found
