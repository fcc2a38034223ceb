"""Three queries of one application share its executors: one decision for all, and each is told of by itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.spark_streaming.application import Line, WatchedApplication, acted
from tests.spark_streaming.conftest import with_workers
from tests.spark_streaming.counting import committed, expected

from headgate.engines.spark.local.cluster import StandaloneCluster
from headgate.engines.spark.source.load import value_of

pytestmark = pytest.mark.long

QUERIES = ("orders", "clicks", "totals")
LOAD = "sine(24, 12, 20s)"
"""Rows that take 10 ms in all three, a quarter of a core, from two partitions: a third executor is of no use."""
KEYS = 50


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give where the application keeps everything."""
    return tmp_path_factory.mktemp("three")


@pytest.fixture(scope="module")
def ended(cluster: StandaloneCluster, directory: Path) -> WatchedApplication:
    """Give an application to which executors came while it ran, and from which Headgate took those to spare."""
    with WatchedApplication(with_workers(cluster, 1), directory, "three.py", LOAD) as application:
        application.start({})
        application.until_more_batches("totals", 2)
        with_workers(cluster, 3)
        application.until(lambda: len(application.executors()) == 3, "three executors")
        application.until(lambda: acted(application) and len(application.executors()) < 3, "shrinking")
        application.until_more_batches("totals", 2)
        application.until(
            lambda: changes(application)[-1]["at"] < decided(application)[-1]["at"], "decision after the change"
        )
        application.stop()
    return application


def test_all_queries_get_the_same_executors(ended: WatchedApplication) -> None:
    """There are no executors for one query alone."""
    for decision in decided(ended):
        assert len(set(decision["wanted"].values())) == 1, decision


def test_each_query_is_told_of_by_itself(ended: WatchedApplication) -> None:
    """Whoever asks why learns what each of the three needs."""
    told = changes(ended)[-1]
    assert {name.partition(":")[0] for name in told["names"]} == set(QUERIES)
    for query in QUERIES:
        assert any(query in line for line in told["explained"].splitlines()), told["explained"]


def test_counts_survive_executors_that_come_and_go(ended: WatchedApplication, directory: Path) -> None:
    """Each key was counted as often as it was read, though its state has moved."""
    checkpoint = directory / "checkpoints" / "totals"
    seen = {tuple(line["ids"]) for line in ended.lines("executors")}
    assert {len(ids) for ids in seen} >= {1, 3}
    assert counted(directory / "totals", committed(checkpoint)) == Counter(
        value_of(partition, offset) % KEYS for partition, offset in expected(checkpoint)
    )


def test_what_it_costs_to_move_state_is_told(ended: WatchedApplication) -> None:
    """Known from the change before: what the batches after it lost."""
    assert any("the latest change of executors" in line["explained"] for line in decided(ended))


def decided(application: WatchedApplication) -> list[Line]:
    """Give the decisions that name what they are about."""
    return [line for line in application.lines("decision") if line["wanted"]]


def changes(application: WatchedApplication) -> list[Line]:
    """Give the decisions that changed something."""
    return [line for line in decided(application) if line["acts"]]


def counted(directory: Path, until: int) -> Counter[int]:
    """Give the newest count of each key, up to a batch."""
    newest: Counter[int] = Counter()
    for batch in range(until + 1):
        for file in sorted((directory / str(batch)).glob("*.parquet")):
            rows = pq.read_table(file)
            newest |= Counter(dict(zip(rows["key"].to_pylist(), rows["count"].to_pylist(), strict=True)))
    return newest
