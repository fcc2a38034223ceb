"""A real job that reads a real broker with the consumer's usual settings: what the demo does not show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from tests.flink.conftest import RunHeadgate, await_running, cancelled
from tests.services import kafka
from tests.services.kafka import Kafka

from headgate.demo.kafka.job import ENTRY_CLASS, build_kafka_jar
from headgate.demo.kafka.topics import PARTITIONS, Writer
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.model.decision import Decision
from headgate.model.lag import LagOrigin
from headgate.model.metrics import ScalingMetric
from headgate.model.reasons import Reason
from headgate.testing.process import RunningService

pytestmark = pytest.mark.flink

COST_US = 2000
"""Of a record: a subtask does 500/s."""
LIMIT = timedelta(minutes=2)
SOON = timedelta(seconds=60)
FURTHER_CYCLES = 6
"""Two seconds each."""

RunCopy = Callable[..., str]
"""Submits the job with these arguments, waits until all of it runs, gives its id."""
_NUMBERS = count()


@pytest.fixture(scope="module")
def broker() -> Iterator[Kafka]:
    """Run a broker."""
    with kafka.running() as running:
        yield running


@pytest.fixture
def topic(broker: Kafka) -> str:
    """Give the name of two fresh topics; the second one's ends with `-out`."""
    name = f"orders{next(_NUMBERS)}"
    for each in (name, f"{name}-out"):
        broker.create(each, PARTITIONS)
    return name


@pytest.fixture
def run_copy(cluster: LocalCluster, runtime: FlinkRuntime, broker: Kafka, topic: str) -> Iterator[RunCopy]:
    """Submit jobs with one subtask everywhere, which are cancelled after the test."""
    jar = build_kafka_jar(runtime.java, runtime.home)
    fixed = [f"brokers={broker.address}", f"in={topic}", f"out={topic}-out", f"name={topic}", f"costUs={COST_US}"]
    with ExitStack() as cancelling:

        def run(*arguments: str) -> str:
            job_id = submit_job(cluster.url, jar, entry_class=ENTRY_CLASS, arguments=[*fixed, *arguments])
            cancelling.callback(cancelled, cluster.url, job_id)
            await_running(cluster.url, job_id)
            return job_id

        yield run


@pytest.fixture
def write(broker: Kafka, topic: str) -> Iterator[Callable[..., Writer]]:
    """Write to the topic, at a pace, until the test ends."""
    with ExitStack() as stopping:

        def begin(per_s: float, *partitions: int) -> Writer:
            writer = Writer(broker.address, topic, partitions or range(PARTITIONS))
            writer.per_s = per_s
            stopping.callback(writer.stop)
            writer.start()
            return writer

        yield begin


def options(broker: Kafka, **others: object) -> Mapping[str, object]:
    """Let Headgate ask the broker, and go by what came in since the last change."""
    clusters = [{"name": "main", "url": broker.address}]
    return {
        "kafka-clusters": clusters,
        "headgate.reaction": "fast",
        "job.autoscaler.catch-up.duration": "60 s",
        **others,
    }


def parallelism(cluster: LocalCluster, job_id: str) -> int:
    """Give what the job runs at: one chain of FORWARD edges."""
    return max(int(one["parallelism"]) for one in call_json(f"{cluster.url}/jobs/{job_id}")["vertices"])


def latest(service: RunningService, topic: str) -> Decision | None:
    """Give the newest decision, if there is one."""
    known = service.decisions(f"lab/{topic}", since=datetime.now(UTC) - LIMIT)
    return known[-1] if known else None


def lag(decision: Decision | None) -> float | None:
    """Give what waits before the source, where it is known from the broker."""
    evaluated = decision.evaluated if decision else None
    if evaluated is None or evaluated.lag_origin not in {LagOrigin.OFFSETS, LagOrigin.COMMITTED}:
        return None
    return next((v.metrics.get(ScalingMetric.LAG) for v in evaluated.vertices.values()), None)


def test_an_old_backlog_is_seen_at_the_start(
    broker: Kafka, topic: str, run_copy: RunCopy, run_headgate: RunHeadgate
) -> None:
    """60,000 records wait before the job begins, of which its connector tells few; nobody writes any more."""
    broker.produce(topic, dict.fromkeys(range(PARTITIONS), 7500))
    run_copy()
    service = run_headgate(options(broker, mode="advise"))

    service.until(lambda: (lag(latest(service, topic)) or 0) > 20_000, limit=LIMIT)
    known = lag(latest(service, topic))
    assert known is not None
    assert known < 60_000


def test_a_full_partition_is_no_cause_to_grow(
    cluster: LocalCluster,
    broker: Kafka,
    topic: str,
    run_copy: RunCopy,
    run_headgate: RunHeadgate,
    *,
    write: Callable[..., Writer],
) -> None:
    """
    900/s come in, nine of ten to one partition, which a subtask reads and works off at 500/s: two are enough.

    Three would be, were it divided evenly.
    """
    job_id = run_copy("chain=true")
    write(900, *[0] * 27, 1, 2, 3)
    service = run_headgate(options(broker))

    service.until(lambda: parallelism(cluster, job_id) > 1, limit=LIMIT)
    service.await_cycles(f"lab/{topic}", FURTHER_CYCLES, limit=LIMIT)
    decided = service.decisions(f"lab/{topic}", since=datetime.now(UTC) - LIMIT)

    assert parallelism(cluster, job_id) == 2
    steps = {step.reason for decision in decided for proposal in decision.proposals for step in proposal.steps}
    assert Reason.HOT_PARTITION in steps


@pytest.mark.long
def test_what_was_wished_for_in_an_outage_comes_after_it_and_once(
    cluster: LocalCluster,
    broker: Kafka,
    topic: str,
    run_copy: RunCopy,
    run_headgate: RunHeadgate,
    *,
    write: Callable[..., Writer],
) -> None:
    """The load steps up, and before anything is decided the broker is stopped: Flink could not bring the job up."""
    job_id = run_copy()
    writer = write(200)
    service = run_headgate(options(broker))
    service.until(lambda: lag(latest(service, topic)) is not None, limit=LIMIT)
    service.await_cycles(f"lab/{topic}", FURTHER_CYCLES, limit=LIMIT)

    writer.per_s = 1300
    service.await_cycles(f"lab/{topic}", 1, limit=LIMIT)
    broker.stop()
    try:
        service.await_cycles(f"lab/{topic}", FURTHER_CYCLES, limit=LIMIT)
        during = parallelism(cluster, job_id)
    finally:
        broker.start()
    service.until(lambda: parallelism(cluster, job_id) > 1, limit=SOON)
    reached = parallelism(cluster, job_id)
    service.await_cycles(f"lab/{topic}", FURTHER_CYCLES, limit=LIMIT)

    assert during == 1
    assert parallelism(cluster, job_id) == reached
    assert reached >= 4
    assert len(service.lines("Scaling", f"lab/{topic}")) == 1
