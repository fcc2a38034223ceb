"""The evaluator on Spark answers as the one in process does, however rows are cut, filed and spread."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure, Measure
from headgate.model.metrics import EvaluatedMetrics, JobMetric, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.pipeline.early import EarlyEvaluator
from headgate.pipeline.evaluation import Answer
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.pipeline.live import SparkEvaluator
from headgate.pipeline.revival import RevivingEvaluator
from headgate.pipeline.session import reported
from headgate.ports import Candidate, FleetEvaluator
from headgate.samplelog.compaction import compact
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import at, chain, sample

pytestmark = pytest.mark.spark

TICK, WINDOW = timedelta(seconds=10), timedelta(minutes=5)
OPTIONS = AutoscalerOptions(metrics_window=WINDOW, stabilization_interval=timedelta())
NOW = at(600)


def test_both_evaluators_answer_alike(spark: SparkSession, tmp_path: Path) -> None:
    """Ten jobs of different load; numbers equal to the last bit, in the order asked."""
    ticks = list(story(jobs=10))
    answers = on_spark(spark, tmp_path, ticks).evaluate(candidates(ticks), NOW)
    assert answers == in_process(ticks).evaluate(candidates(ticks), NOW)
    assert list(answers) == [candidate.sample.job for candidate in candidates(ticks)]
    assert all(isinstance(given, EvaluatedMetrics) for given in answers.values())


@pytest.mark.parametrize("partitions", ["1", "5"])
def test_both_evaluators_tell_the_same_of_changes(spark: SparkSession, tmp_path: Path, partitions: str) -> None:
    """Jobs that go by their last change among others that do not, each looked back on from an instant of its own."""
    ticks = list(story(jobs=10, factor=changing))
    asked = [fast(one, back=timedelta(seconds=400 + 20 * place)) for place, one in enumerate(candidates(ticks))]
    asked[4:6] = candidates(ticks)[4:6]
    evaluator = on_spark(spark, tmp_path, ticks)
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    try:
        answers = evaluator.evaluate(asked, NOW)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before or "2")
    assert answers == in_process(ticks).evaluate(asked, NOW)
    arrivals = [given.arrival for given in answers.values() if isinstance(given, EvaluatedMetrics)]
    assert [place for place, arrival in enumerate(arrivals) if arrival is None] == [4, 5]
    assert {arrival.changed for arrival in arrivals if arrival} == {True, False}


def test_a_change_is_told_alike_alone_and_in_one_file(spark: SparkSession, tmp_path: Path) -> None:
    """The same of one job as among ten, and after compaction."""
    ticks = list(story(jobs=10, factor=changing))
    asked = [fast(one) for one in candidates(ticks)]
    evaluator = on_spark(spark, tmp_path, ticks)
    before = evaluator.evaluate(asked, NOW)
    compact(tmp_path, at(2 * 3600), closed_for=timedelta(), grace=-timedelta(minutes=1))
    assert evaluator.evaluate(asked, NOW) == before
    assert evaluator.evaluate(asked[3:4], NOW) == {asked[3].sample.job: before[asked[3].sample.job]}


def test_before_the_first_sample_nothing_is_told_of_a_change(spark: SparkSession, tmp_path: Path) -> None:
    """The log is empty, or knows other jobs only."""
    ticks = list(story(jobs=1))
    unseen = replace(fast(candidates(ticks)[0]), sample=replace(ticks[-1][0], job=JobKey("prod", "unseen")))
    for evaluator in (on_spark(spark, tmp_path, ticks), SparkEvaluator(spark, tmp_path / "no", collect_interval=TICK)):
        (given,) = evaluator.evaluate([unseen], NOW).values()
        assert given == reason_of(given, Reason.NO_SAMPLES)


def test_the_early_evaluator_answers_as_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    """What is decided before its turn is what would have been decided at it."""
    ticks = list(story(jobs=3, factor=changing))
    asked = [fast(one) for one in candidates(ticks)]
    by_spark = on_spark(spark, tmp_path, ticks).evaluate(asked, NOW)
    early = EarlyEvaluator(tmp_path, collect_interval=TICK, keep=timedelta(minutes=10))
    assert early.evaluate(asked, NOW) == by_spark


def test_the_mean_of_memory_comes_from_the_log(spark: SparkSession, tmp_path: Path) -> None:
    """Also where the latest sample does not know it."""
    ticks = list(story(jobs=1))
    (given,) = on_spark(spark, tmp_path, ticks).evaluate(candidates(ticks), NOW).values()
    assert isinstance(given, EvaluatedMetrics)
    heap = given.job[JobMetric.HEAP_MEMORY_USED]
    seen = [each.values[JobMeasure.HEAP_MEMORY_USED] for (each,) in ticks if each.at >= NOW - WINDOW and each.values]
    assert heap.current is None
    assert heap.average == pytest.approx(sum(seen) / len(seen))


def test_small_arrow_batches_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """A job that is split across Arrow batches is evaluated whole."""
    ticks = list(story(jobs=7))
    evaluator = on_spark(spark, tmp_path, ticks)
    whole = evaluator.evaluate(candidates(ticks), NOW)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "2")
    try:
        assert evaluator.evaluate(candidates(ticks), NOW) == whole
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


@pytest.mark.parametrize("partitions", ["1", "5"])
def test_the_spread_over_cores_changes_nothing(spark: SparkSession, tmp_path: Path, partitions: str) -> None:
    """One part on one core or many on two: the same answer."""
    ticks = list(story(jobs=7))
    evaluator = on_spark(spark, tmp_path, ticks)
    usual = evaluator.evaluate(candidates(ticks), NOW)
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    try:
        assert evaluator.evaluate(candidates(ticks), NOW) == usual
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before or "2")


def test_compaction_and_the_batch_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """The same from one file as from sixty, and for one job as among ten."""
    ticks = list(story(jobs=10))
    evaluator = on_spark(spark, tmp_path, ticks)
    before = evaluator.evaluate(candidates(ticks), NOW)
    compact(tmp_path, at(2 * 3600), closed_for=timedelta(), grace=-timedelta(minutes=1))
    compact(tmp_path, at(2 * 3600), closed_for=timedelta(), grace=-timedelta(minutes=1))
    assert len(list((tmp_path / "samples").rglob("*.parquet"))) == 1
    assert evaluator.evaluate(candidates(ticks), NOW) == before
    alone = candidates(ticks)[3]
    assert evaluator.evaluate([alone], NOW) == {alone.sample.job: before[alone.sample.job]}


def test_each_job_has_its_own_window(spark: SparkSession, tmp_path: Path) -> None:
    """Samples before a job's window do not count for it, and do for another one."""
    ticks = list(story(jobs=2))
    early, late = candidates(ticks)
    late = replace(late, window_from=at(550))
    answers = on_spark(spark, tmp_path, ticks).evaluate([early, late], NOW)
    assert isinstance(answers[early.sample.job], EvaluatedMetrics)
    assert answers[late.sample.job] == reason_of(answers[late.sample.job], Reason.WINDOW_FILLING)
    assert answers == in_process(ticks).evaluate([early, late], NOW)


def test_a_job_without_samples_is_answered(spark: SparkSession, tmp_path: Path) -> None:
    """Whether others have samples, or the log is empty altogether."""
    ticks = list(story(jobs=1))
    unseen = replace(candidates(ticks)[0], sample=replace(ticks[-1][0], job=JobKey("prod", "unseen")))
    for evaluator in (on_spark(spark, tmp_path, ticks), SparkEvaluator(spark, tmp_path / "no", collect_interval=TICK)):
        answers = evaluator.evaluate([*candidates(ticks), unseen], NOW)
        assert answers[unseen.sample.job] == reason_of(answers[unseen.sample.job], Reason.NO_SAMPLES)


def test_nothing_asked_is_nothing_answered(spark: SparkSession, tmp_path: Path) -> None:
    """A cycle without jobs costs no Spark job."""
    assert SparkEvaluator(spark, tmp_path, collect_interval=TICK).evaluate([], NOW) == {}


def test_a_path_may_hold_any_character(spark: SparkSession, tmp_path: Path) -> None:
    """Blanks, braces and stars in the log's path are no patterns."""
    ticks = list(story(jobs=1))
    answers = on_spark(spark, tmp_path / "a b=[c] {d} *", ticks).evaluate(candidates(ticks), NOW)
    assert all(isinstance(given, EvaluatedMetrics) for given in answers.values())


def test_a_failure_of_spark_is_one_line(spark: SparkSession, tmp_path: Path) -> None:
    """A log that vanished under Spark is told in a sentence, not in a stack trace."""
    ticks = list(story(jobs=1))
    evaluator = on_spark(spark, tmp_path, ticks)
    broken = tmp_path / "samples" / "hour=2026-01-01T00" / "1767225600000-0.parquet"
    contents = bytearray(broken.read_bytes())
    contents[4:60] = b"\0" * 56
    broken.write_bytes(contents)
    with pytest.raises(UnreachableError, match="cannot be reduced on Spark") as raised:
        evaluator.evaluate([replace(candidates(ticks)[0], window_from=at(0))], NOW)
    assert "\n" not in str(raised.value)


@dataclass
class Hanging:
    """An evaluator whose Spark job takes a core and does not end; it opens a named pipe once it has begun."""

    session: SparkSession
    began: Path

    def evaluate(self, _candidates: Sequence[Candidate], _now: datetime, /) -> Mapping[JobKey, Answer]:
        """Wait for the job."""
        began, never = str(self.began), str(self.began.with_name("never"))

        def hang(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            os.close(os.open(began, os.O_WRONLY))
            os.close(os.open(never, os.O_RDONLY))
            yield from batches

        with reported("the job has ended"):
            self.session.range(0, 1, 1, 1).mapInArrow(hang, "id long").toArrow()
        return {}


def test_an_evaluation_that_hangs_costs_no_later_one(spark: SparkSession, tmp_path: Path) -> None:
    """Its job is cancelled when the next one begins, which answers as if nothing had been, and so do those after it."""
    ticks, began = list(story(jobs=1)), tmp_path / "began"
    for pipe in (began, tmp_path / "never"):
        os.mkfifo(pipe)
    evaluators: Iterator[FleetEvaluator] = iter([Hanging(spark, began), on_spark(spark, tmp_path / "log", ticks)])
    evaluator = RevivingEvaluator(lambda: spark, lambda _: next(evaluators))
    expected = in_process(ticks).evaluate(candidates(ticks), NOW)

    with ThreadPoolExecutor(1) as threads:
        hung = threads.submit(evaluator.evaluate, candidates(ticks), NOW)
        began.read_bytes()
        try:
            assert evaluator.evaluate(candidates(ticks), NOW) == expected
            with pytest.raises(UnreachableError, match="the job has ended"):
                hung.result(timeout=30)
        finally:
            spark.sparkContext.cancelAllJobs()

    assert evaluator.evaluate(candidates(ticks), NOW) == expected


def on_spark(spark: SparkSession, root: Path, ticks: Sequence[Sequence[JobSample]]) -> SparkEvaluator:
    """Give an evaluator over a log of these ticks."""
    log = SampleLog(root)
    for samples in ticks:
        log.append(samples)
    return SparkEvaluator(spark, root, collect_interval=TICK)


def in_process(ticks: Sequence[Sequence[JobSample]]) -> InProcessEvaluator:
    """Give an evaluator that has seen these ticks."""
    evaluator = InProcessEvaluator(collect_interval=TICK, keep=timedelta(hours=1))
    for samples in ticks:
        evaluator.append(samples)
    return evaluator


def candidates(ticks: Sequence[Sequence[JobSample]]) -> list[Candidate]:
    """Ask about every job of the last tick over the usual window."""
    return [Candidate(sample=each, options=OPTIONS, window_from=NOW - WINDOW) for each in ticks[-1]]


def fast(candidate: Candidate, *, back: timedelta = timedelta(minutes=10)) -> Candidate:
    """Ask so that the input counts from its last change on."""
    options = replace(candidate.options, reaction=Reaction.FAST)
    return replace(candidate, options=options, arrivals_from=NOW - back)


def reason_of(given: EvaluatedMetrics | NotReady, reason: Reason) -> NotReady:
    """Give the answer as it must be: not ready, for this reason."""
    assert isinstance(given, NotReady)
    return NotReady(reason=reason, message=given.message)


def evenly(_number: int, second: int) -> float:
    """Let a load be even: so many seconds of it have come by then."""
    return second


def changing(number: int, second: int) -> float:
    """Let the load of most jobs grow threefold at some instant, in the midst of a stretch."""
    return second if number % 3 == 1 else second + 2 * max(second - 450 - 13 * number, 0)


def story(*, jobs: int, factor: Callable[[int, int], float] = evenly) -> Iterator[list[JobSample]]:
    """Yield ten minutes of ticks; job n reads n * 100/s more than the one before, and one begins its counters anew."""
    for second in range(0, 601, 10):
        yield [job_at(number, second, factor) for number in range(jobs)]


def job_at(number: int, second: int, factor: Callable[[int, int], float] = evenly) -> JobSample:
    """Build one job's sample: a source and a sink that is busier from job to job."""
    made = sample(chain({"source": 2, "sink": 4}), job=JobKey("prod", f"job-{number}"), tick=at(second))
    resets = number == 1 and second > 450
    seconds, read = (second - 450 if resets else factor(number, second)), 100.0 * (number + 1)
    counters = {
        Measure.NUM_RECORDS_IN: read * seconds,
        Measure.NUM_RECORDS_OUT: read * seconds / 3,
        Measure.ACCUMULATED_BUSY_TIME: (50.0 * number + 100) * seconds,
        Measure.LOAD: 0.05 * number + 0.1,
        Measure.LAG: 7.5 * seconds if number % 2 else 0.0,
        Measure.OBSERVED_TPR: math.inf if number % 3 else 123.456,
    }
    measured = VertexSample(measured_at=at(second - 1.234), epoch=int(resets), values=counters)
    used = {JobMeasure.HEAP_MEMORY_USED: 1e9 / (number + second + 1), JobMeasure.GC_PRESSURE: 0.001 * number}
    known = used if second % 20 else {}
    return replace(made, vertices=dict.fromkeys(made.vertices, measured), values=known)
