"""Rows of windows become answers, whole jobs at a time, however the stream of rows is cut."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric, VertexMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import Measure
from headgate.model.windows import column
from headgate.options.autoscaler import AutoscalerOptions
from headgate.pipeline.arrow import ANSWERS, WINDOWS, arrays
from headgate.pipeline.evaluation import answer, evaluate_batches, no_windows, read_answers, whole_jobs
from headgate.pipeline.plan import Plan
from headgate.ports import Candidate
from headgate.samplelog.layout import epoch_ms
from headgate.testing.builders import START, at, chain, sample

NOW = at(300)
TOPOLOGY = chain({"source": 2, "sink": 4})
OPTIONS = AutoscalerOptions(metrics_window=timedelta(minutes=5), stabilization_interval=timedelta())


def plan(jobs: int) -> Plan:
    """Plan to answer so many jobs."""
    asked = [sample(TOPOLOGY, job=JobKey("prod", f"job-{number}"), tick=NOW) for number in range(jobs)]
    candidates = [Candidate(sample=each, options=OPTIONS, window_from=START) for each in asked]
    return Plan.of(candidates, now=NOW, collect_interval=timedelta(seconds=10))


def windows(jobs: int) -> pa.Table:
    """Build the reduced windows of these jobs, two epochs of the sink's counters each, sorted as Spark sorts them."""
    return pa.Table.from_pylist(list(_rows(jobs)), schema=WINDOWS)


def _rows(jobs: int) -> Iterator[dict[str, object]]:
    for number in range(jobs):
        key = str(JobKey("prod", f"job-{number}"))
        yield window(key, "sink", 0, (0, 150), number)
        yield window(key, "sink", 1, (160, 300), number)
        yield window(key, "source", 0, (0, 300), number)


def window(job: str, vertex: str, epoch: int, seconds: tuple[int, int], number: int) -> dict[str, object]:
    """Build one reduced window in which counters grow by 100 more a second from job to job."""
    first, last = seconds
    row: dict[str, object] = {"job": job, "vertex": vertex, "epoch": epoch}
    row |= {"samples": (last - first) // 10 + 1, "first_at_ms": epoch_ms(at(first)), "last_at_ms": epoch_ms(at(last))}
    for measure in Measure:
        if measure.column.startswith("records") or measure.column.endswith("ms"):
            rate = 100_000 * (number + 1) if measure.column.startswith("records") else 300_000
            ends = {"first": 0, "last": rate * (last - first), "count": 2}
            times = {"first_ms": epoch_ms(at(first)), "last_ms": epoch_ms(at(last))}
            row |= {column(measure, name): value for name, value in (ends | times).items()}
        else:
            row[column(measure, "count")] = 0
    return row


def test_every_job_is_answered_in_order() -> None:
    """Jobs with enough samples get their metrics."""
    answers = answer(plan(3), arrays(windows(3)))
    assert [key.name for key in answers] == ["job-0", "job-1", "job-2"]
    second = answers[JobKey("prod", "job-1")]
    assert isinstance(second, EvaluatedMetrics)
    source = second.vertices[TOPOLOGY.vertices[0].id]
    assert source.metrics[ScalingMetric.TARGET_DATA_RATE] == pytest.approx(200.0)
    assert second.coverage == 1.0


def test_a_job_without_windows_is_answered_too() -> None:
    """No samples is a normal answer."""
    given_answer = answer(plan(1), no_windows())[JobKey("prod", "job-0")]
    assert isinstance(given_answer, NotReady)
    assert given_answer.reason is Reason.NO_SAMPLES


def test_a_stale_job_does_not_hold_up_the_others() -> None:
    """Each job is found ready or not by itself."""
    asked = plan(2)
    late = replace(asked, now=at(400)).only(["prod/job-0"])
    assert isinstance(answer(late, arrays(windows(1)))[JobKey("prod", "job-0")], NotReady)
    fresh = windows(2).slice(3)
    answers = answer(asked, arrays(fresh))
    assert isinstance(answers[JobKey("prod", "job-0")], NotReady)
    assert isinstance(answers[JobKey("prod", "job-1")], EvaluatedMetrics)


@settings(max_examples=20)
@given(cuts=st.lists(st.integers(0, 12), max_size=6).map(sorted))
def test_the_cut_of_the_stream_changes_nothing(cuts: list[int]) -> None:
    """Batches of any length, empty ones among them, give the answers of one batch."""
    rows = windows(4)
    bounds = [0, *cuts, rows.num_rows]
    pieces = [rows.slice(begin, end - begin) for begin, end in itertools.pairwise(bounds)]
    batches = [batch for piece in pieces for batch in piece.combine_chunks().to_batches() or [_empty()]]
    answers = pa.Table.from_batches(evaluate_batches(batches, plan(4)), schema=ANSWERS)
    expected = {str(key): given_answer for key, given_answer in answer(plan(4), arrays(rows)).items()}
    assert read_answers(answers) == expected
    assert answers.num_rows == 4


def test_jobs_leave_whole_and_as_soon_as_they_can() -> None:
    """A job goes on when the next one has begun, or nothing comes any more."""
    batches = windows(3).to_batches(max_chunksize=4)
    assert [table["job"].unique().to_pylist() for table in whole_jobs(batches)] == [
        ["prod/job-0"],
        ["prod/job-1"],
        ["prod/job-2"],
    ]
    assert [table.num_rows for table in whole_jobs(batches)] == [3, 3, 3]


def test_no_rows_are_no_jobs() -> None:
    """An empty partition yields nothing."""
    assert list(whole_jobs([])) == []
    assert list(evaluate_batches([_empty()], plan(1))) == []


def test_an_answer_comes_back_from_its_row() -> None:
    """Infinite and missing numbers survive the way from the workers."""
    vertex = TOPOLOGY.vertices[0].id
    metrics = VertexMetrics(
        metrics={ScalingMetric.TRUE_PROCESSING_RATE: float("inf")}, needed_capacity=0.1, factor=None, outside=True
    )
    whole = EvaluatedMetrics(vertices={vertex: metrics}, backlog=True, coverage=0.5, samples=3)
    text = (
        '{"vertices": {"source": {"metrics": {"TRUE_PROCESSING_RATE": Infinity}, "needed_capacity": 0.1, '
        '"factor": null, "outside": true}}, "backlog": true, "coverage": 0.5, "samples": 3}'
    )
    rows = pa.Table.from_pylist([{"job": "prod/a", "answer": text}], schema=ANSWERS)
    assert read_answers(rows) == {"prod/a": whole}


def _empty() -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=WINDOWS)
