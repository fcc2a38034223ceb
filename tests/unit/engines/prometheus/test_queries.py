"""What is asked, and what the answers about partitions mean."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.unit.engines.prometheus.conftest import SOURCE, Scene

from headgate.engines.prometheus.queries import Quantity, Queries, partition_of
from headgate.testing.fake_prometheus import Scraped

_OPERATOR = "flink_taskmanager_job_task_operator_"
_PULSAR = "PulsarConsumer_persistent:__public_default_orders_partition_7_ab12_numMsgsReceived"


def test_every_scrape_of_the_last_three_intervals_is_asked_for() -> None:
    """One that failed is bridged; a series that ended longer ago is not seen any more."""
    queries = Queries({}, timedelta(seconds=1.5))
    assert queries.of_subtasks(Quantity.BUSY_MS) == "flink_taskmanager_job_task_accumulateBusyTimeMs{}[4500ms]"


def test_matchers_hold_for_every_query() -> None:
    """Whatever their values hold."""
    queries = Queries({"cluster": 'a"b\\c', "env": "live"}, timedelta(seconds=15))
    own = 'cluster="a\\"b\\\\c",env="live"'
    source = f'{_OPERATOR}numRecordsIn{{operator_name=~"Source:.*",{own}}}[45000ms]'
    assert queries.of_subtasks(Quantity.SOURCE_RECORDS_IN) == source
    assert queries.scraped("up") == f"up{{{own}}}[45000ms]"
    assert queries.partitions().endswith(f",{own}}})")


@pytest.mark.parametrize(
    ("labels", "partition"),
    [
        ({"__name__": "any", "topic": "orders", "partition": "3"}, ("", "orders", "3")),
        ({"__name__": "any", "kafkaCluster": "eu", "topic": "orders", "partition": "3"}, ("eu", "orders", "3")),
        ({"__name__": _OPERATOR + _PULSAR}, ("persistent:__public_default_orders", "7")),
    ],
)
def test_partitions_are_told_apart(labels: dict[str, str], partition: tuple[str, ...]) -> None:
    """Kafka's by labels, Pulsar's by the name of the metric."""
    assert partition_of(labels) == partition


async def test_partitions_are_counted_once_however_often_they_are_read(scene: Scene) -> None:
    """Two consumers of one partition, and an attempt that ended a minute ago, are no more partitions."""
    labels = {"job_id": scene.job.job_id, "task_id": SOURCE}
    names = [f"PulsarConsumer_orders_partition_{number}_{who}_numMsgsReceived" for number in "012" for who in "ab"]
    scene.job[SOURCE].partitions = None
    scene.wait(400)
    scene.scrape(lambda page: [*page, *(Scraped({**labels, "__name__": _OPERATOR + name}, 1) for name in names)])
    assert (await scene.sample()).topology.by_id[SOURCE].partitions == 3
