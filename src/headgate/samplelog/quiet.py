"""
Rows of decisions that change nothing and record no step: columns of numbers instead of a text for each job.

Most jobs of a fleet are such, in every cycle.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.algorithm.decide import in_balance
from headgate.algorithm.readout import METRICS, VertexRows, metrics_of
from headgate.algorithm.stats import Floats
from headgate.errors import PermanentError
from headgate.model.decision import Decision
from headgate.model.identity import JobKey, VertexId
from headgate.model.lag import LagOrigin
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.model.tables import DECISIONS
from headgate.model.topology import Vertex
from headgate.samplelog.layout import epoch_ms, instant

_WIDTH = len(METRICS) + 3
_HEAD = 4 + 2 * len(JobMetric)
"""
Both widths, so that other ones can be told apart, coverage, samples, two values a job-wide metric.

The origin of the lag follows, NaN for none, which rows of before it was kept lack; then the rows.
"""


def is_quiet(decision: Decision) -> bool:
    """Tell whether numbers say all of a decision."""
    known = decision.evaluated
    if known is None or not known.balanced or decision.notices or decision.signals:
        return False
    return isinstance(known.vertices, VertexRows) and not known.vertices.is_limited


def quiet_table(decisions: Sequence[Decision]) -> pa.Table:
    """Give one `decisions` row a quiet decision."""
    numbers = [_numbers(decision) for decision in decisions]
    ends = np.cumsum([0, *(len(each) for each in numbers)])
    columns = {
        "job": [str(decision.job) for decision in decisions],
        "at_ms": [epoch_ms(decision.at) for decision in decisions],
        "id": [decision.id for decision in decisions],
        "outcome": [decision.outcome.value for decision in decisions],
        "reason": [decision.reason.value for decision in decisions],
        "detail": pa.nulls(len(decisions), pa.string()),
        "graph": [_rows(decision).topology.listing for decision in decisions],
        "numbers": pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(np.concatenate([*numbers, []]))),
    }
    return pa.table(columns, schema=DECISIONS)


def read_quiet(row: Mapping[str, Any]) -> Decision:
    """
    Read a decision back from the row that `quiet_table` gave it.

    Its proposals are made anew by `in_balance`: a change there changes what older rows read as.
    """
    graph, numbers = json.loads(row["graph"]), row["numbers"]
    vertices = [Vertex(**{**vertex, "id": VertexId(vertex["id"])}) for vertex in graph["vertices"]]
    head = int(numbers[1])
    if numbers[0] != _WIDTH or head not in {_HEAD, _HEAD + 1}:
        message = f"decision {row['id']} of {row['job']} was kept by another version of Headgate"
        raise PermanentError(message)
    rows = (numbers[begin : begin + _WIDTH] for begin in range(head, len(numbers), _WIDTH))
    evaluated = EvaluatedMetrics(
        vertices={vertex.id: metrics_of(vertex, known) for vertex, known in zip(vertices, rows, strict=True)},
        backlog=False,
        coverage=numbers[2],
        samples=int(numbers[3]),
        job=_job_values(numbers[4:_HEAD]),
        lag_origin=None if head == _HEAD or math.isnan(numbers[_HEAD]) else LagOrigin(int(numbers[_HEAD])),
        balanced=True,
    )
    unchanged = tuple(vertex.unchanged for vertex in vertices)
    decision = in_balance(JobKey.parse(row["job"]), unchanged, evaluated, instant(row["at_ms"]), graph["fingerprint"])
    return replace(decision, id=row["id"])


def _rows(decision: Decision) -> VertexRows:
    known = decision.evaluated
    if known is None or not isinstance(known.vertices, VertexRows):
        message = f"decision {decision.id} is not a quiet one"
        raise TypeError(message)
    return known.vertices


def _numbers(decision: Decision) -> Floats:
    known = decision.evaluated
    if known is None:
        return np.empty(0)
    job = (known.job.get(metric, JobValue()) for metric in JobMetric)
    values = (math.nan if value is None else value for each in job for value in (each.current, each.average))
    head = [
        _WIDTH,
        _HEAD + 1,
        known.coverage,
        float(known.samples),
        *values,
        math.nan if known.lag_origin is None else float(known.lag_origin),
    ]
    return np.concatenate([head, _rows(decision).numbers.ravel()])


def _job_values(numbers: Sequence[float]) -> Mapping[JobMetric, JobValue]:
    known = [None if math.isnan(number) else number for number in numbers]
    pairs = zip(known[::2], known[1::2], strict=True)
    return {
        metric: JobValue(current=now, average=mean)
        for metric, (now, mean) in zip(JobMetric, pairs, strict=True)
        if now is not None or mean is not None
    }
