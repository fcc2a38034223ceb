"""Decisions that change nothing are kept as numbers, and come back as they were made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate.algorithm.decide import decide
from headgate.algorithm.evaluate import evaluate
from headgate.algorithm.fleet import FleetJob, assemble
from headgate.algorithm.readout import Readout, VertexRows
from headgate.algorithm.reduce import reduce_windows
from headgate.errors import PermanentError
from headgate.model.arrival import Arrival
from headgate.model.decision import ConfigChanges, Decision, Notice, Outcome, SeenSignal
from headgate.model.downtime import Downtime
from headgate.model.events import EventReason, EventType
from headgate.model.lag import LagOrigin
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue, ScalingMetric
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.replay.comparing import Verdict, compared
from headgate.replay.past import Recorded
from headgate.samplelog.reader import LogReader
from headgate.samplelog.rows import decision_table, read_decision
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, at, chain, sample
from headgate.testing.tables import steady, table_of

GRAPH = chain({"in": 1, "out": 2})
OPTIONS = AutoscalerOptions()
KNOWN = EvaluatedMetrics(
    vertices={},
    backlog=True,
    coverage=0.75,
    samples=7,
    job={JobMetric.GC_PRESSURE: JobValue(current=0.1), JobMetric.HEAP_MEMORY_USED: JobValue(current=1.0, average=2.0)},
    arrival=Arrival(
        per_s=100.5, error=None, lasted_s=math.inf, changed=True, rising=True, means=((5.0, 99.0), (10.0, 101.0))
    ),
    lag_origin=LagOrigin.OFFSETS,
    brokers_unknown=True,
    downtime=Downtime(
        expected=timedelta(seconds=4.000001),
        low=timedelta(seconds=2),
        high=timedelta(seconds=9),
        basis="12 rescales of this job",
        stops=False,
    ),
    balanced=True,
)


def quiet(**changes: Any) -> Decision:
    """Decide for a job that is balanced, with other things known of it."""
    job = FleetJob(key=ORDERS, topology=GRAPH, options=OPTIONS)
    rows = steady("in", read=100, written=100, busy=0.6, lag=(0, 0)) + steady("out", read=100, busy=0.3)
    batch = assemble([job], reduce_windows(table_of(rows)))
    vertices = VertexRows(Readout(batch=batch, evaluation=evaluate(batch)), GRAPH, 0)
    return decide(sample(GRAPH), replace(KNOWN, vertices=vertices, **changes), OPTIONS, at(60))


def row_of(decision: Decision) -> dict[str, Any]:
    """Give a decision's row."""
    row: dict[str, Any] = decision_table([decision]).to_pylist()[0]
    return row


def plain(decision: Decision) -> Decision:
    """Give a decision with the metrics of its vertices as values."""
    assert decision.evaluated is not None
    return replace(decision, evaluated=replace(decision.evaluated, vertices=dict(decision.evaluated.vertices)))


@pytest.mark.parametrize(
    "unknown",
    [
        {},
        {"arrival": None},
        {"downtime": None},
        {"lag_origin": None},
        {"brokers_unknown": False},
        {"job": {}},
        {"backlog": False},
    ],
    ids=str,
)
def test_it_comes_back_as_it_was_made(unknown: dict[str, Any], tmp_path: Path) -> None:
    """Also what came in, how long a rescale would have stopped the job, and that it was behind."""
    decision = quiet(**unknown)
    log = SampleLog(tmp_path)

    log.append_decisions([decision])

    assert row_of(decision)["detail"] is None
    assert LogReader(tmp_path).decisions(ORDERS, at(0), at(99)) == (plain(decision),)


def test_all_that_is_known_of_a_job_is_told_by_numbers() -> None:
    """A field more has to be in the row, and here; or its default would be read for what was known."""
    untold = [each.name for each in fields(KNOWN) if getattr(KNOWN, each.name) == default(each)]
    assert untold == []


def default(field: Any) -> object:
    """Give the value of a field that nobody sets."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def test_what_was_decided_is_recorded_and_not_made_from_its_numbers() -> None:
    """Another version decides otherwise by the same numbers, says so otherwise, and names its decisions otherwise."""
    other = replace(
        quiet(), id="0123", outcome=Outcome.NOT_READY, reason=Reason.STABILIZING, message="it has just grown"
    )

    assert row_of(other)["detail"] is None
    assert read_decision(row_of(other)) == plain(other)


@pytest.mark.parametrize(
    "more",
    [
        lambda d: replace(d, acts=True),
        lambda d: replace(d, delayed=None),
        lambda d: replace(d, fingerprint="other"),
        lambda d: replace(d, config=ConfigChanges(overrides={"a": "b"})),
        lambda d: replace(d, signals={"depth": SeenSignal(value=1.0)}),
        lambda d: replace(d, proposals=(replace(d.proposals[0], outside=True), *d.proposals[1:])),
        lambda d: replace(
            d, notices=(Notice(reason=EventReason.INPUT_CUT_OFF, type=EventType.WARNING, message="m", key="k"),)
        ),
    ],
)
def test_one_that_says_more_is_kept_whole(more: Callable[[Decision], Decision]) -> None:
    """Whatever a row of numbers has no place for."""
    decision = more(quiet())

    assert row_of(decision)["detail"] is not None
    assert read_decision(row_of(decision)) == plain(decision)


def test_a_number_keeps_its_name_wherever_it_stands() -> None:
    """What another version puts in another order, or adds to a job, does not become something else."""
    row = row_of(quiet())
    width, names = 10, '{"job": ["samples", "new", "coverage"], "vertex": ["outside", "LOAD"]}'
    of_vertices = row["numbers"][-2 * width - 4 : -4]
    loads = [of_vertices[0], of_vertices[width]]

    read = read_decision(
        {**row, "names": names, "numbers": [7.0, 5.0, 0.5, 1.0, loads[0], 0.0, loads[1]], "basis": None}
    )

    assert read.evaluated is not None
    assert (read.evaluated.samples, read.evaluated.coverage, read.evaluated.arrival) == (7, 0.5, None)
    assert [each.metrics[ScalingMetric.LOAD] for each in read.evaluated.vertices.values()] == loads
    assert [each.outside for each in read.evaluated.vertices.values()] == [True, False]


@pytest.mark.parametrize(
    "changes",
    [
        {"names": '{"job": ["coverage", "samples"], "vertex": ["MOOD"]}'},
        {"names": None},
        {"reason": "Mood"},
        {"numbers": [0.5]},
    ],
    ids=str,
)
def test_what_no_version_up_to_this_one_wrote_is_refused(changes: dict[str, Any]) -> None:
    """With the decision's name; nothing is guessed."""
    row = row_of(quiet())
    with pytest.raises(PermanentError, match=f"decision {row['id']} of prod/orders was kept by another version"):
        read_decision({**row, **changes})


def test_a_decision_that_an_older_version_kept_is_equal_to_the_same_one_of_today() -> None:
    """It kept less of those that change nothing: what it left out is no difference, and a number is one."""
    decision = quiet()
    row = row_of(decision)
    of_vertices = row["numbers"][-24:-4]
    of_metrics = [math.nan] * 12
    of_metrics[0], of_metrics[4], of_metrics[5] = 0.1, 1.0, 2.0
    older = {**row, "numbers": [10.0, 17.0, 0.75, 7.0, *of_metrics, 1.0, *of_vertices]}
    older |= {"names": None, "message": None, "basis": None}

    assert compared(Recorded(row=older), decision, repeated=False).verdict is Verdict.EQUAL
    fewer = compared(Recorded(row=older), quiet(samples=6), repeated=False)
    assert fewer.verdict is Verdict.RENUMBERED
