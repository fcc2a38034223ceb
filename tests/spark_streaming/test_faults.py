"""What dies around a query costs it time: no row is lost or doubled, and Headgate goes on with what lives."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.spark_streaming.application import WatchedApplication, acted, alive, executors_of
from tests.spark_streaming.counting import differences

from headgate.engines.spark.local.cluster import StandaloneCluster

LOAD = "0s:20"
TWO = {
    "job.autoscaler.execution-mode": "reactive",
    "job.autoscaler.reactive.max-parallelism": "2",
    "job.autoscaler.reactive.resource-stabilization": "3 s",
    "job.autoscaler.reactive.lost-worker-timeout": "3 s",
    "job.autoscaler.rollback.enabled": "false",
}
"""Two of the cluster's cores, however fast this machine is; no rescale is blamed for what the test itself kills."""
QUERIES = ("orders", "faulty")


@pytest.fixture
def application(three_workers: StandaloneCluster, directory: Path) -> Iterator[WatchedApplication]:
    """Give an application that Spark lets have three executors."""
    began = datetime.now(UTC).isoformat()
    with WatchedApplication(three_workers, directory, "counted.py", LOAD, began) as application:
        yield application


@pytest.mark.long
def test_nothing_that_dies_loses_or_doubles_a_row(
    application: WatchedApplication, three_workers: StandaloneCluster, directory: Path
) -> None:
    """An executor, a worker, a query and the driver die one after the other, and all rows are there once."""
    options = {**TWO, "state-store": f"sqlite:///{directory / 'headgate.db'}"}
    application.start(options)
    application.until(lambda: acted(application) and len(application.executors()) == 2, "shrinking to two executors")

    before = application.executors()
    kill_executor(three_workers, before[0])
    await_renewal(application, before)
    before = application.executors()
    kill_worker_of(three_workers, before[0])
    await_renewal(application, before)

    fail(application, directory)
    application.kill()
    (directory / "fail").unlink()
    restart(application, options)

    application.stop()
    for query in QUERIES:
        assert not differences(directory / query, directory / "checkpoints" / query), query
    assert not told(application, "RescaleNotReached")


def kill_executor(cluster: StandaloneCluster, name: str) -> None:
    """Kill an executor alone."""
    executors_of(worker_of(cluster, name))[name].kill()


def kill_worker_of(cluster: StandaloneCluster, name: str) -> None:
    """Kill a worker together with its executor, as the loss of a machine does."""
    cluster.kill_worker(cluster.workers.index(worker_of(cluster, name)))


def worker_of(cluster: StandaloneCluster, name: str) -> int:
    """Give the worker that runs an executor."""
    return next(worker for worker in alive(cluster) if name in executors_of(worker))


def await_renewal(application: WatchedApplication, before: list[str]) -> None:
    """Wait until there are two executors again, another one among them, and the query goes on."""
    application.until(
        lambda: len(application.executors()) == len(before) and application.executors() != before, "renewal"
    )
    application.until_more_batches("orders", 2)


def fail(application: WatchedApplication, directory: Path) -> None:
    """Let one query fail: the agent goes on with the other one, and says nothing of the dead one any more."""
    (directory / "fail").touch()
    application.until(lambda: application.lines("query ended"), "end of the query that fails")
    assert application.lines("query ended")[0]["failed"]
    application.until(lambda: told(application, "QueryFailed"), "event of the query that failed")
    ended = application.lines("query ended")[0]["at"]
    application.until(lambda: decided_for(application, ended) == {"orders"}, "decision without the query that failed")
    application.until_more_batches("orders", 2)


def told(application: WatchedApplication, reason: str) -> list[str]:
    """Give the messages of one kind of event."""
    return [line["message"] for line in application.lines("event") if line["reason"] == reason]


def decided_for(application: WatchedApplication, since: str) -> set[str]:
    """Give the queries that the newest decision since an instant counts with."""
    newest = [line for line in application.lines("decision") if line["at"] > since and line["names"]][-1:]
    return {name.partition(":")[0] for line in newest for name in line["names"]}


def restart(application: WatchedApplication, options: dict[str, str]) -> None:
    """Start the driver again: both queries go on where they had committed, and the agent decides for both."""
    began = datetime.now(UTC).isoformat()
    application.start(options)
    application.until(lambda: len(application.lines("began")) == 2, "second driver")
    for query in QUERIES:
        application.until_more_batches(query, 2)
    application.until(lambda: decided_for(application, began) == set(QUERIES), "decision for both queries")
