"""Reactive mode: an application uses whatever cores its cluster has, up to what its author allows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.spark_streaming.application import WatchedApplication, acted, alive, executors_of
from tests.spark_streaming.conftest import with_workers

from headgate.engines.spark.local.cluster import StandaloneCluster

REACTIVE = {
    "job.autoscaler.execution-mode": "reactive",
    "job.autoscaler.reactive.max-parallelism": "2",
    "job.autoscaler.reactive.resource-stabilization": "3 s",
    "job.autoscaler.reactive.lost-worker-timeout": "3 s",
}


@pytest.fixture
def application(cluster: StandaloneCluster, directory: Path) -> Iterator[WatchedApplication]:
    """Give an application on a cluster of one worker."""
    began = datetime.now(UTC).isoformat()
    with WatchedApplication(with_workers(cluster, 1), directory, "counted.py", "0s:10", began) as application:
        yield application


@pytest.mark.long
def test_an_application_follows_its_cluster(application: WatchedApplication, cluster: StandaloneCluster) -> None:
    """A worker comes and it grows, a third one is more than it may have, and where one is lost the third steps in."""
    application.start(REACTIVE)
    application.until_more_batches("orders", 1)
    assert len(application.executors()) == 1

    with_workers(cluster, 2)
    await_executors(application, 2)
    with_workers(cluster, 3)
    application.until(lambda: shares(application)[-1:] == ["2 of 3"], "share of the third worker's slots")
    application.until(lambda: acted(application), "taking back what Spark gave")
    await_executors(application, 2)

    lost = next(pid for pid in alive(cluster) if executors_of(pid))
    cluster.kill_worker(cluster.workers.index(lost))
    application.until(lambda: shares(application)[-1:] == ["2 of 2"], "share of the workers that are left")
    await_executors(application, 2)
    application.stop()


def await_executors(application: WatchedApplication, count: int) -> None:
    """Wait for so many executors that do their work."""
    application.until(lambda: len(application.executors()) == count, f"{count} executors")
    application.until_more_batches("orders", 1)


def shares(application: WatchedApplication) -> list[str]:
    """Give the application's share of the cluster, as each decision tells it."""
    begin = "the job's share is "
    said = (line["message"] for line in application.lines("decision"))
    return [message.removeprefix(begin).partition(" slots")[0] for message in said if message.startswith(begin)]
