"""
Rows of decisions that change nothing and record no step: columns of numbers instead of a text for each job.

Most jobs of a fleet are such, in every cycle. A row holds all of its decision and names each of its numbers, so that it
is read as it was written and nothing is decided again, whatever the rules and the order of things are by then.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.algorithm.readout import METRICS, VertexRows
from headgate.algorithm.stats import Floats
from headgate.errors import PermanentError
from headgate.model.arrival import Arrival
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey, VertexId
from headgate.model.lag import LagOrigin
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.tables import DECISIONS
from headgate.samplelog.layout import epoch_ms, instant

_METRICS = tuple(JobMetric)
_UNKNOWN = JobValue()
_OF_JOB = (
    *("coverage", "samples", "backlog", "balanced", "lag_origin", "brokers_unknown"),
    *("arrival.per_s", "arrival.error", "arrival.lasted_s", "arrival.changed", "arrival.rising"),
    "arrival.saturated",
    *("downtime.expected_s", "downtime.low_s", "downtime.high_s", "downtime.stops"),
    *(f"{metric}.{part}" for metric in _METRICS for part in ("current", "average")),
)
_OF_VERTEX = (*METRICS, "needed_capacity", "factor", "outside")
_NAMES = json.dumps({"job": _OF_JOB, "vertex": _OF_VERTEX})
"""Of the numbers in a row: those of the job, those of each vertex in order, then pairs of the arrival's means."""

_OLDER_JOB = (
    *("", "", "coverage", "samples"),
    *("GC_PRESSURE.current", "GC_PRESSURE.average", "HEAP_MAX_USAGE_RATIO.current", "HEAP_MAX_USAGE_RATIO.average"),
    *("HEAP_MEMORY_USED.current", "HEAP_MEMORY_USED.average", "MANAGED_MEMORY_USED.current"),
    *("MANAGED_MEMORY_USED.average", "METASPACE_MEMORY_USED.current", "METASPACE_MEMORY_USED.average"),
    *("NUM_TASK_SLOTS_USED.current", "NUM_TASK_SLOTS_USED.average", "lag_origin"),
)
"""Of rows without names; the oldest lack the last. The first two are how many there are of a vertex, and of a job."""
_OLDER_VERTEX = (
    *("LOAD", "TRUE_PROCESSING_RATE", "TARGET_DATA_RATE", "CATCH_UP_DATA_RATE", "LAG", "SCALE_UP_RATE_THRESHOLD"),
    *("SCALE_DOWN_RATE_THRESHOLD", "needed_capacity", "factor", "outside"),
)
_OLDER_MESSAGE = "every vertex runs at its wanted parallelism"

_IN_ROW = {"id", "job", "at", "outcome", "reason", "message", "fingerprint", "proposals", "evaluated"}
_not_in_row = attrgetter(*(each.name for each in fields(Decision) if each.name not in _IN_ROW))
_AS_READ = _not_in_row(
    Decision(
        id="", job=JobKey("", ""), at=instant(0), outcome=Outcome.KEEP, reason=Reason.BALANCED, message="", delayed={}
    )
)
"""What all else of a decision is read as; one that has anything different there, in whatever field, is not quiet."""

Names = tuple[Sequence[str], Sequence[str]]
"""Of the numbers of a job, and of those of a vertex."""


def is_quiet(decision: Decision) -> bool:
    """Tell whether a row of numbers says all of a decision."""
    known = decision.evaluated
    if known is None or not isinstance(known.vertices, VertexRows):
        return False
    topology = known.vertices.topology
    unchanged = decision.proposals == topology.unchanged and decision.fingerprint == topology.fingerprint
    return unchanged and _not_in_row(decision) == _AS_READ and not known.vertices.is_limited


def quiet_table(decisions: Sequence[Decision]) -> pa.Table:
    """Give one `decisions` row a quiet decision."""
    known = [_known(decision) for decision in decisions]
    numbers = [_numbers(each, rows) for each, rows in known]
    ends = np.cumsum([0, *(len(each) for each in numbers)])
    columns = {
        "job": [str(decision.job) for decision in decisions],
        "at_ms": [epoch_ms(decision.at) for decision in decisions],
        "id": [decision.id for decision in decisions],
        "outcome": [decision.outcome.value for decision in decisions],
        "reason": [decision.reason.value for decision in decisions],
        "detail": pa.nulls(len(decisions), pa.string()),
        "graph": [rows.topology.listing for _, rows in known],
        "numbers": pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(np.concatenate([*numbers, []]))),
        "names": [_NAMES] * len(decisions),
        "message": [decision.message for decision in decisions],
        "basis": [each.downtime.basis if each.downtime else None for each, _ in known],
    }
    return pa.table(columns, schema=DECISIONS)


def read_quiet(row: Mapping[str, Any]) -> Decision:
    """
    Read a decision back from the row that `quiet_table` gave it.

    Raises:
        PermanentError: another version of Headgate kept it in a way that is not known here.
    """
    try:
        return _read(row)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        message = f"decision {row['id']} of {row['job']} was kept by another version of Headgate: {error}"
        raise PermanentError(message) from error


def _read(row: Mapping[str, Any]) -> Decision:
    graph, numbers = json.loads(row["graph"]), row["numbers"]
    of_job, of_vertex = _named(row["names"]) if row.get("names") else _older(numbers)
    vertices, width = graph["vertices"], len(of_vertex)
    begins = range(len(of_job), len(of_job) + len(vertices) * width, width)
    known = _by_name(of_job, numbers)
    return Decision(
        id=row["id"],
        job=JobKey.parse(row["job"]),
        at=instant(row["at_ms"]),
        outcome=Outcome(row["outcome"]),
        reason=Reason(row["reason"]),
        message=row.get("message") or _OLDER_MESSAGE,
        fingerprint=graph["fingerprint"],
        proposals=tuple(
            Proposal(
                vertex=VertexId(each["id"]), name=each["name"], current=each["parallelism"], wanted=each["parallelism"]
            )
            for each in vertices
        ),
        evaluated=EvaluatedMetrics(
            vertices={
                VertexId(each["id"]): _metrics(each, _by_name(of_vertex, numbers[begin : begin + width]))
                for each, begin in zip(vertices, begins, strict=True)
            },
            backlog=bool(known.get("backlog", False)),
            coverage=known["coverage"],
            samples=int(known["samples"]),
            job=dict(_job_values(known)),
            arrival=_arrival(known, numbers[begins.stop :]),
            lag_origin=LagOrigin(int(known["lag_origin"])) if "lag_origin" in known else None,
            brokers_unknown=bool(known.get("brokers_unknown", False)),
            downtime=_downtime(known, row.get("basis")),
            balanced=bool(known.get("balanced", True)),
        ),
        delayed={},
    )


@lru_cache(maxsize=16)
def _named(names: str) -> Names:
    told = json.loads(names)
    return told["job"], told["vertex"]


def _older(numbers: Sequence[float]) -> Names:
    width, of_job = int(numbers[0]), int(numbers[1])
    if width != len(_OLDER_VERTEX) or of_job not in {len(_OLDER_JOB) - 1, len(_OLDER_JOB)}:
        message = f"{width} numbers of a vertex and {of_job} of a job have no names"
        raise ValueError(message)
    return _OLDER_JOB[:of_job], _OLDER_VERTEX


def _by_name(names: Sequence[str], numbers: Sequence[float]) -> dict[str, float]:
    """Give what is known of numbers that have names; there may be others behind them."""
    return {name: number for name, number in zip(names, numbers, strict=False) if not math.isnan(number)}


def _metrics(vertex: Mapping[str, Any], known: dict[str, float]) -> VertexMetrics:
    needed, factor, outside = (known.pop(name, None) for name in ("needed_capacity", "factor", "outside"))
    metrics = {ScalingMetric(name): value for name, value in known.items()}
    metrics[ScalingMetric.PARALLELISM] = float(vertex["parallelism"])
    metrics[ScalingMetric.MAX_PARALLELISM] = float(vertex["max_parallelism"])
    metrics[ScalingMetric.NUM_SOURCE_PARTITIONS] = float(vertex["partitions"] or 0)
    return VertexMetrics(metrics=metrics, needed_capacity=needed, factor=factor, outside=bool(outside))


def _job_values(known: Mapping[str, float]) -> Iterator[tuple[JobMetric, JobValue]]:
    for metric in _METRICS:
        value = JobValue(current=known.get(f"{metric}.current"), average=known.get(f"{metric}.average"))
        if value != _UNKNOWN:
            yield metric, value


def _arrival(known: Mapping[str, float], means: Sequence[float]) -> Arrival | None:
    if "arrival.lasted_s" not in known:
        return None
    return Arrival(
        per_s=known.get("arrival.per_s"),
        error=known.get("arrival.error"),
        lasted_s=known["arrival.lasted_s"],
        changed=bool(known["arrival.changed"]),
        rising=bool(known["arrival.rising"]),
        saturated=bool(known.get("arrival.saturated", False)),
        means=tuple(zip(means[::2], means[1::2], strict=True)),
    )


def _downtime(known: Mapping[str, float], basis: str | None) -> Downtime | None:
    if basis is None:
        return None
    expected, low, high = (timedelta(seconds=known[f"downtime.{name}_s"]) for name in ("expected", "low", "high"))
    return Downtime(expected=expected, low=low, high=high, basis=basis, stops=bool(known["downtime.stops"]))


def _known(decision: Decision) -> tuple[EvaluatedMetrics, VertexRows]:
    known = decision.evaluated
    if known is None or not isinstance(known.vertices, VertexRows):
        message = f"decision {decision.id} is not a quiet one"
        raise TypeError(message)
    return known, known.vertices


def _numbers(known: EvaluatedMetrics, rows: VertexRows) -> Floats:
    """Give the numbers that `_NAMES` names, in its order; NaN where nothing is known."""
    arrival, downtime = known.arrival, known.downtime
    of_metrics = (known.job.get(metric, _UNKNOWN) for metric in _METRICS)
    of_job = [
        *(known.coverage, known.samples, known.backlog, known.balanced, known.lag_origin, known.brokers_unknown),
        *((arrival.per_s, arrival.error, arrival.lasted_s, arrival.changed, arrival.rising) if arrival else [None] * 5),
        arrival.saturated if arrival else None,
        *(_seconds(downtime) if downtime else [None] * 4),
        *chain.from_iterable((each.current, each.average) for each in of_metrics),
    ]
    means = arrival.means if arrival else ()
    return np.concatenate([np.array(of_job, dtype=np.float64), rows.numbers.ravel(), np.ravel(means)])


def _seconds(downtime: Downtime) -> tuple[float, ...]:
    times = (downtime.expected, downtime.low, downtime.high)
    return (*(each.total_seconds() for each in times), downtime.stops)
