"""One real standalone cluster for all tests here; a test that needs more workers than are left adds them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark_streaming.application import alive

from headgate.engines.spark.local.cluster import StandaloneCluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """Give a master and two workers of one core each, on loopback."""
    with StandaloneCluster(workers=2, directory=tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def three_workers(cluster: StandaloneCluster) -> StandaloneCluster:
    """Give the cluster with three live workers."""
    return with_workers(cluster, 3)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Give where an application keeps everything."""
    return tmp_path


def with_workers(cluster: StandaloneCluster, count: int) -> StandaloneCluster:
    """Add workers, or kill some, until so many live."""
    live = alive(cluster)
    for _ in range(count - len(live)):
        cluster.add_worker()
    for pid in live[count:]:
        cluster.kill_worker(cluster.workers.index(pid))
    cluster.await_workers(count)
    return cluster
