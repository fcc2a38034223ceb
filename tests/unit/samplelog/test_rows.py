"""Values become rows and come back."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from headgate.model.decision import Decision, Outcome, Proposal, Step
from headgate.model.identity import VertexId
from headgate.model.measures import SUBUNIT, JobMeasure, Measure, as_kept
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, VertexSample
from headgate.samplelog.rows import (
    decision_table,
    job_table,
    read_decision,
    read_topology,
    sample_table,
    vertex_table,
)
from headgate.testing.builders import ORDERS, START, at, chain, sample

SOURCE, SINK = VertexId("source"), VertexId("sink")


def measured(values: dict[Measure, float]) -> JobSample:
    """Build a sample of a lone source with these values."""
    made = sample(chain({"source": 4}))
    vertices = {SOURCE: VertexSample(measured_at=at(-1), epoch=2, values=values)}
    return JobSample(
        job=made.job, at=START, job_id="j1", running_since=at(-60), topology=made.topology, vertices=vertices
    )


def test_a_measure_is_stored_in_whole_thousandths() -> None:
    """Three decimals are kept; what lies beyond them is rounded."""
    row = sample_table([measured({Measure.LAG: 12.3456, Measure.LOAD: 0.5})]).to_pylist()[0]
    assert (row["lag_records"], row["load"]) == (12346, 500)
    assert (row["job"], row["vertex"], row["epoch"], row["parallelism"]) == (str(ORDERS), "source", 2, 4)
    assert row["at_ms"] - row["measured_ms"] == 1000


def test_a_missing_measure_is_null_and_an_infinite_one_has_its_bit() -> None:
    """Neither can be mistaken for a number."""
    row = sample_table([measured({Measure.OBSERVED_TPR: math.inf})]).to_pylist()[0]
    assert row["observed_tpr"] is None
    assert row["lag_records"] is None
    assert row["infinite"] == Measure.OBSERVED_TPR.bit


def test_a_gauge_too_large_to_be_summed_counts_as_missing() -> None:
    """One absurd value of one job must not overflow the sum that every job's window is reduced in."""
    row = sample_table([measured({Measure.LAG: 1e12, Measure.NUM_RECORDS_IN: 1e12, Measure.LOAD: 1e308})]).to_pylist()[
        0
    ]
    assert row["lag_records"] is None
    assert row["load"] is None
    assert row["records_in"] == 10**15


def test_a_vertex_that_was_not_measured_has_no_row() -> None:
    """An absent measurement is no row of nulls."""
    made = sample(chain({"source": 1, "sink": 1}))
    only_sink = JobSample(
        job=made.job,
        at=made.at,
        job_id="j1",
        running_since=START,
        topology=made.topology,
        vertices={SINK: made.vertices[SINK]},
    )
    assert sample_table([only_sink])["vertex"].to_pylist() == ["sink"]


def test_a_topology_comes_back() -> None:
    """Vertices, bounds, edges and how they ship."""
    topology = chain({"source": 2, "map": 3, "sink": 1})
    assert read_topology(vertex_table([sample(topology)]).to_pylist()) == topology


def test_a_job_row_tells_when_the_job_began() -> None:
    """Job-wide values stand in their own table."""
    row = job_table([measured({})]).to_pylist()[0]
    assert row["at_ms"] - row["running_since_ms"] == 60_000
    assert row["slots_total"] is None


def test_job_wide_values_are_stored_in_whole_thousandths() -> None:
    """A missing one is null, and so is one too large to be summed; a terabyte is not."""
    told = {JobMeasure.GC_PRESSURE: 0.12345, JobMeasure.HEAP_MEMORY_USED: 1e12, JobMeasure.METASPACE_MEMORY_USED: 1e13}
    row = job_table([replace(measured({}), values=told)]).to_pylist()[0]
    assert (row["gc_pressure"], row["heap_used_bytes"]) == (123, 10**15)
    assert row["metaspace_used_bytes"] is None
    assert row["managed_used_bytes"] is None


@pytest.mark.parametrize("value", [0.12345, -1 / 3, 0.0, 123456789.0004, 1e12])
def test_a_job_wide_value_is_decided_by_as_it_is_kept(value: float) -> None:
    """Else no decision could be made again from the log."""
    row = job_table([replace(measured({}), values={JobMeasure.GC_PRESSURE: value})]).to_pylist()[0]

    assert as_kept(value) == row["gc_pressure"] / SUBUNIT


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1e307])
def test_what_no_number_of_thousandths_is_stays_as_it_is(value: float) -> None:
    """An engine's nonsense fails nobody."""
    assert as_kept(value) == value


def test_a_decision_comes_back_whole() -> None:
    """Every step and number survives, infinities and the order of vertices included."""
    rates = VertexMetrics(
        metrics={ScalingMetric.TRUE_PROCESSING_RATE: math.inf, ScalingMetric.LAG: 0.1},
        needed_capacity=None,
        factor=math.inf,
        outside=True,
    )
    step = Step(before=9, after=4, reason=Reason.MAX_PARALLELISM, detail="at most 4")
    decision = Decision(
        id="d1",
        job=ORDERS,
        at=at(0.123),
        outcome=Outcome.RESCALE,
        reason=Reason.ADVICE,
        message="too slow",
        proposals=(Proposal(vertex=SOURCE, name="source", current=2, wanted=4, outside=True, steps=(step,)),),
        evaluated=EvaluatedMetrics(vertices={SOURCE: rates, SINK: rates}, backlog=True, coverage=0.75, samples=7),
    )
    row = decision_table([decision]).to_pylist()[0]
    read = read_decision(row)
    assert read == decision
    assert read.evaluated is not None
    assert list(read.evaluated.vertices) == [SOURCE, SINK]
    assert (row["id"], row["outcome"], row["reason"]) == ("d1", "Rescale", "Advice")
