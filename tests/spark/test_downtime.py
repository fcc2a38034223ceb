"""What is learnt of rescales on Spark, from the log, is what is learnt in process of the same story."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate.errors import UnreachableError
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.pipeline.downtime import DowntimeLearner, RescaleSource
from headgate.pipeline.downtime_book import NotedDecisions, NotedSamples, RescaleBook
from headgate.pipeline.downtime_log import LogRescales
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import at, chain, sample

pytestmark = pytest.mark.spark

IN_PLACE, REDEPLOYED, FAILING, IDLE = (
    JobKey("prod", "in place"),
    JobKey("prod", "redeployed"),
    JobKey("prod", "failing"),
    JobKey("dev", "idle"),
)
JOBS = (IN_PLACE, REDEPLOYED, FAILING, IDLE)
END = 2_000


def _parallelism(tick: int) -> int:
    """Give what jobs run at that are rescaled: one more each 600 s."""
    return 2 + tick // 600


def _sample(job: JobKey, tick: int) -> JobSample:
    """Give a job at a tick; each begins a run every 600 s, two of them at another parallelism."""
    run = tick // 600
    rescaled = job in {IN_PLACE, REDEPLOYED}
    values = {JobMeasure.STATE_SIZE: 1e9 * (run + 1)}
    if job == IN_PLACE and run and tick % 600 >= 10:
        values[JobMeasure.LAST_DOWNTIME] = 1.5 + run
    one = sample(
        chain({"source": _parallelism(tick) if rescaled else 2, "sink": 1}),
        job=job,
        tick=at(tick),
        job_id=f"j{run}" if job == REDEPLOYED else "j",
        running_since=at(0 if job == IDLE else 600 * run - 3 * (job == FAILING)),
    )
    return replace(one, values=values)


def _ticks() -> Iterator[list[JobSample]]:
    """Give what was collected; the redeployed job is gone for half a minute each time."""
    for tick in range(0, END, 30):
        yield [_sample(job, tick) for job in JOBS if job != REDEPLOYED or tick % 600 < 570]


def _decisions() -> Iterator[list[Decision]]:
    """Give a decision for each job every minute: those before a run's end act, others do not."""
    for tick in range(0, END, 60):
        acts = tick % 600 == 540
        yield [
            Decision(
                id=f"{job}{tick}",
                job=job,
                at=at(tick),
                outcome=Outcome.RESCALE if acts or job == IDLE else Outcome.KEEP,
                reason=Reason.RESCALED if acts and job != IDLE else Reason.ADVICE,
                message="",
            )
            for job in JOBS
        ]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Say where the log stands."""
    return tmp_path_factory.mktemp("log")


@pytest.fixture(scope="module")
def book(root: Path) -> RescaleBook:
    """Write the log, and take note of what is written."""
    book, log = RescaleBook(), SampleLog(root)
    samples, decisions = NotedSamples(log, book), NotedDecisions(log, book)
    for tick in _ticks():
        samples.append(tick)
    for told in _decisions():
        decisions.append_decisions(told)
    return book


def _learnt(source: RescaleSource) -> list[object]:
    learner = DowntimeLearner(source)
    learner.learn(at(END))
    return [learner.predict(_sample(job, 0), redeploy=redeploy) for job in JOBS for redeploy in (False, True)]


def test_the_log_says_what_memory_says(spark: SparkSession, root: Path, book: RescaleBook) -> None:
    """Rescales in place and redeploys; restarts by failures and what was only advised count in neither."""
    from_log = LogRescales(lambda: spark, root).rescales(at(END))

    assert {(each.job, each.redeploy, each.downtime_s, each.state_bytes) for each in from_log} == {
        *((str(IN_PLACE), False, 1.5 + run, run * 1e9) for run in (1, 2, 3)),
        *((str(REDEPLOYED), True, 60.0, run * 1e9) for run in (1, 2, 3)),
    }
    assert sorted(from_log, key=repr) == sorted(book.rescales(at(END)), key=repr)
    assert _learnt(LogRescales(lambda: spark, root)) == _learnt(book)


def test_what_comes_later_is_learnt_later(spark: SparkSession, root: Path, book: RescaleBook) -> None:
    """A second reading begins where the first one ended, and a little before."""
    source = LogRescales(lambda: spark, root)
    learner = DowntimeLearner(source)
    for until in (700, END):
        learner.learn(at(until))

    whole = DowntimeLearner(book)
    whole.learn(at(END))
    for job, redeploy in ((IN_PLACE, False), (REDEPLOYED, True)):
        assert learner.predict(_sample(job, 0), redeploy=redeploy) == whole.predict(_sample(job, 0), redeploy=redeploy)


@pytest.mark.usefixtures("book")
def test_reading_the_log_takes_turns_with_the_cycles(spark: SparkSession, root: Path) -> None:
    """It has a pool of its own, and the thread that read leaves it again."""
    LogRescales(lambda: spark, root).rescales(at(END))

    assert spark.sparkContext.getConf().get("spark.scheduler.mode") == "FAIR"
    assert spark.sparkContext._jsc.sc().getPoolForName("learning").isDefined()
    assert spark.sparkContext.getLocalProperty("spark.scheduler.pool") == "default"


def test_a_log_without_decisions_or_a_session_says_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Neither is a failure; a session that has stopped is."""
    assert not LogRescales(lambda: spark, tmp_path).rescales(at(0))
    assert not LogRescales(lambda: None, tmp_path).rescales(at(0))


@pytest.mark.usefixtures("book")
def test_a_broken_file_fails_the_reading_and_not_what_was_learnt(
    spark: SparkSession, root: Path, tmp_path: Path
) -> None:
    """The same is read again the next time."""
    shutil.copytree(root, tmp_path, dirs_exist_ok=True)
    source = LogRescales(lambda: spark, tmp_path)
    learner = DowntimeLearner(source)
    learner.learn(at(END))
    known = learner.predict(_sample(IN_PLACE, 0), redeploy=False)
    newest = max((tmp_path / "decisions").rglob("*.parquet"))
    newest.write_bytes(b"no parquet")

    with pytest.raises(UnreachableError):
        learner.learn(at(END) + timedelta(minutes=1))
    assert known is not None
    assert learner.predict(_sample(IN_PLACE, 0), redeploy=False) == known
