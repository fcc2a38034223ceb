"""Rows of windows become answers, an object a job only when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pytest

from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue, NotReady, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.windows import STATISTICS, TREND, column
from headgate.options.autoscaler import AutoscalerOptions
from headgate.pipeline.arrow import JOB_WINDOWS, WINDOWS
from headgate.pipeline.evaluation import Answers, Question, Windows
from headgate.pipeline.roster import Roster
from headgate.ports import Candidate
from headgate.samplelog.layout import epoch_ms
from headgate.testing.builders import START, at, chain, sample

NOW = at(300)
TOPOLOGY = chain({"source": 2, "sink": 4})
OPTIONS = AutoscalerOptions(metrics_window=timedelta(minutes=5), stabilization_interval=timedelta())


def candidates(jobs: int) -> list[Candidate]:
    """Ask about so many jobs."""
    asked = [sample(TOPOLOGY, job=JobKey("prod", f"job-{number}"), tick=NOW) for number in range(jobs)]
    return [Candidate(sample=each, options=OPTIONS, window_from=START) for each in asked]


def answers(asked: list[Candidate], rows: pa.Table, job_rows: pa.Table | None = None, second: int = 300) -> Answers:
    """Answer from these reduced rows."""
    fleet = Roster().fleet(asked)
    question = Question(candidates=asked, now=at(second), collect_interval=timedelta(seconds=10))
    return question.answers(fleet, Windows.of(fleet, rows, job_rows or JOB_WINDOWS.empty_table()))


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
    for measure, names in STATISTICS.items():
        if names is TREND and measure not in {Measure.LAG, Measure.ARRIVED}:
            rate = 100_000 * (number + 1) if measure.column.startswith("records") else 300_000
            ends = {"first": 0, "last": rate * (last - first), "count": 2}
            times = {"first_ms": epoch_ms(at(first)), "last_ms": epoch_ms(at(last))}
            row |= {column(measure, name): value for name, value in (ends | times).items()}
        else:
            row[column(measure, "count")] = 0
    return row


def test_every_job_is_answered_in_order() -> None:
    """Jobs with enough samples get their metrics, in whatever order the rows come."""
    found = answers(candidates(3), windows(3).take([4, 8, 0, 2, 6, 1, 3, 7, 5]))

    assert [key.name for key in found] == ["job-0", "job-1", "job-2"]
    assert found == answers(candidates(3), windows(3))
    second = found[JobKey("prod", "job-1")]
    assert isinstance(second, EvaluatedMetrics)
    assert second.vertices[TOPOLOGY.vertices[0].id].metrics[ScalingMetric.TARGET_DATA_RATE] == pytest.approx(200.0)
    assert (second.coverage, second.samples) == (1.0, 31)


def test_a_job_without_windows_is_answered_too() -> None:
    """No samples is a normal answer, also for a graph without a vertex."""
    empty = replace(candidates(2)[1].sample, topology=chain({}))
    found = answers([candidates(1)[0], replace(candidates(1)[0], sample=empty)], WINDOWS.empty_table())

    assert [one.reason for one in found.values() if isinstance(one, NotReady)] == [Reason.NO_SAMPLES] * 2


def test_a_stale_job_does_not_hold_up_the_others() -> None:
    """Each job is found ready or not by itself."""
    late = answers(candidates(1), windows(1), second=400)[JobKey("prod", "job-0")]
    assert isinstance(late, NotReady)
    assert late.reason is Reason.STALE_METRICS

    found = answers(candidates(2), windows(2).slice(3))
    assert isinstance(found[JobKey("prod", "job-0")], NotReady)
    assert isinstance(found[JobKey("prod", "job-1")], EvaluatedMetrics)


def test_rows_of_others_do_not_count() -> None:
    """The log may hold jobs that are not asked about."""
    assert answers(candidates(1), windows(3)) == answers(candidates(1), windows(1))


def test_job_wide_values_come_along() -> None:
    """Latest from the sample, mean from the window; what is not known is absent."""
    latest = replace(candidates(1)[0].sample, values={JobMeasure.GC_PRESSURE: 0.25}, slots_total=5, slots_free=2)
    row = {"job": "prod/job-0", **dict.fromkeys(JOB_WINDOWS.names[1:], 0)}
    row |= {"heap_used_bytes__sum": 9_000_000, "heap_used_bytes__count": 2}
    of_another = row | {"job": "prod/unknown", "heap_used_bytes__sum": 1}
    heap = pa.Table.from_pylist([row, of_another], schema=JOB_WINDOWS)

    found = answers([replace(candidates(1)[0], sample=latest)], windows(1), heap)[latest.job]

    assert isinstance(found, EvaluatedMetrics)
    assert found.job == {
        JobMetric.GC_PRESSURE: JobValue(current=0.25),
        JobMetric.HEAP_MEMORY_USED: JobValue(average=4500),
        JobMetric.NUM_TASK_SLOTS_USED: JobValue(current=3),
    }


def test_what_did_not_change_is_laid_out_once() -> None:
    """Equal jobs of the next cycle stand where they stood; one that changed is laid out anew, the others kept."""
    roster, asked = Roster(), candidates(2)
    before = roster.fleet(asked)
    changed = replace(asked[1].sample, topology=chain({"source": 3, "sink": 4}))

    assert roster.fleet(candidates(2)) is before
    after = roster.fleet([asked[0], replace(asked[1], sample=changed)])
    assert after.layout.shapes[0] is before.layout.shapes[0]
    assert after.layout.parallelism.tolist() == [2, 4, 3, 4]
