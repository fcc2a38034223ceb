"""What a recorded event log adds up to, see tests/fixtures/spark."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.engines.spark.outside.event_log import EventLog
from headgate.engines.spark.outside.ledger import EndedBatch, Ledger
from headgate.engines.spark.outside.work import BatchWork
from headgate.model.lag import LagOrigin
from headgate.model.micro_batch import MicroBatch
from headgate.testing.fake_spark import FakeSparkApplication

RECORDED = Path(__file__).parents[4] / "fixtures" / "spark"
APP = "app-20261122150318-0000"


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    """Note the whole log; its batches are in `ended`."""
    ledger = Ledger()
    for event in EventLog(RECORDED, APP).read():
        ledger.note(event)
    return ledger


@pytest.fixture(scope="module")
def ended(ledger: Ledger) -> list[EndedBatch]:
    """Take its batches."""
    return ledger.take_batches()


def of(query: str, ended: list[EndedBatch]) -> list[MicroBatch]:
    """Give the batches of a query."""
    return [one.batch for one in ended if one.batch.query == query]


def test_every_batch_is_there_with_its_rows(ended: list[EndedBatch]) -> None:
    """Those of each query in their order, without a gap; the third of the doomed one never ended."""
    ids = {query: [batch.batch_id for batch in of(query, ended)] for query in ("clean", "count", "doomed")}
    assert ids == {"clean": list(range(33)), "count": list(range(22)), "doomed": [0, 1]}
    assert [batch.rows for batch in of("clean", ended)][:3] == [156, 315, 172]


def test_a_batch_has_the_work_of_its_own_stages(ended: list[EndedBatch]) -> None:
    """Four milliseconds a row at one stage of four tasks; or two stages, of which the second reads a shuffle."""
    *_, last = of("clean", ended)
    (work,) = last.stages
    assert work.tasks == 4
    assert work.task_time / timedelta(milliseconds=1) / last.rows == pytest.approx(4.9, abs=0.4)
    assert {tuple(stage.tasks for stage in batch.stages) for batch in of("count", ended)} == {(4, 3)}


def test_a_batch_is_told_with_the_executors_of_its_time(ended: list[EndedBatch]) -> None:
    """One, two while there was a second worker, and one again."""
    cores = [one.batch.cores for one in ended]
    assert sorted(set(cores)) == [1, 2]
    assert cores[0] == cores[-1] == 1
    assert all(one.batch.cores == one.executors.cores for one in ended)


def test_lag_is_what_the_offsets_tell(ended: list[EndedBatch]) -> None:
    """Where a batch was held back by the query's limit, rows were left over."""
    behind = [batch for batch in of("count", ended) if batch.lag]
    assert [(batch.rows, batch.lag) for batch in behind] == [(400, 20), (400, 264)]
    assert {batch.lag_origin for batch in of("clean", ended)} == {LagOrigin.OFFSETS}


def test_how_a_query_was_started_is_guessed(ended: list[EndedBatch]) -> None:
    """Its trigger from even distances, its limit from rows that were left over; without a sign, nothing."""
    guessed = {query: (of(query, ended)[-1].interval, of(query, ended)[-1].limit) for query in ("clean", "count")}
    assert guessed == {"clean": (timedelta(seconds=2), None), "count": (timedelta(seconds=3), 400)}
    assert {batch.interval for batch in of("count", ended)} == {None, timedelta(seconds=3)}


def test_a_lag_near_the_limit_proves_nothing(ended: list[EndedBatch]) -> None:
    """A batch that took nearly all it may, and whose latest offset is its end, may have been held back to it."""
    (near,) = [batch for batch in of("count", ended) if batch.lag is None]
    assert (near.rows, near.limit, near.lag_origin) == (386, 400, LagOrigin.UNKNOWN)


def test_a_query_that_fails_is_a_failure_in_words(ledger: Ledger) -> None:
    """With the query's name and without frames; queries that are stopped are none."""
    (failure,) = ledger.failures
    assert failure.text.startswith("doomed: ")
    assert "RuntimeError: the sink is full" in failure.text
    assert not [line for line in failure.text.splitlines() if line.startswith(("at ", "File "))]


def test_in_the_end_nothing_runs(ledger: Ledger) -> None:
    """By the application's own word."""
    assert ledger.over
    assert not ledger.queries


def test_work_is_found_whatever_job_group_it_ran_in(tmp_path: Path) -> None:
    """`foreachBatch` may set another one."""
    app = FakeSparkApplication(id="app", name="orders", log=tmp_path / "app.inprogress")
    app.add_executor()
    app.start_query("clean")
    app.run_batch("clean")
    app.log.write_text(app.log.read_text().replace('"spark.jobGroup.id":"run-1"', '"spark.jobGroup.id":"mine"'))
    ledger = Ledger()
    for event in EventLog(tmp_path, "app").read():
        ledger.note(event)
    ((stage,),) = [one.batch.stages for one in ledger.take_batches()]
    assert stage.tasks == 4


def test_work_of_batches_that_never_ended_is_forgotten() -> None:
    """Their progress may have been lost; they must not pile up."""
    work = BatchWork()
    for batch in range(100):
        told = {"streaming.sql.batchId": str(batch), "sql.streaming.queryId": "q"}
        stage = {"Stage ID": batch, "Number of Tasks": 1, "Parent IDs": []}
        work.begin_job({"Job ID": batch, "Stage Infos": [stage], "Properties": told})
    work.take(("q", 99))
    assert work == BatchWork()


def test_an_event_that_lacks_something_changes_nothing() -> None:
    """Another Spark may write it otherwise; the log goes on."""
    ledger = Ledger()
    for kind in ("SparkListenerTaskEnd", "SparkListenerJobStart", "QueryProgressEvent", "SparkListenerExecutorAdded"):
        ledger.note({"Event": kind})
    assert ledger == Ledger()
