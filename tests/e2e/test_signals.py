"""
External metrics of real systems in the whole loop: from a configuration file to what a job runs at.

The service is put together as `headgate run` does it, over a fake Flink that lives by the real clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import yaml
from tests.services import kafka, prometheus

from headgate.algorithm.explain import explain
from headgate.config import for_job, load
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.events.merging import MergingEventHandler
from headgate.model.decision import Decision
from headgate.model.events import Event, EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import ScalingMetric
from headgate.model.reasons import Reason
from headgate.options.service import ServiceOptions
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.ports import FleetEvaluator, SampleSink
from headgate.samplelog.files import root_of
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.signals.collector import WithSignals
from headgate.signals.opening import close_sources, open_sources
from headgate.stores.memory import MemoryStateStore
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain
from headgate.testing.fakes import RecordingEvents

ORDERS = JobKey("lab", "orders")
AUTOSCALER = {
    "metrics.window": "4 s",
    "stabilization.interval": "0 s",
    "restart.time": "0 s",
    "scale-down.interval": "0 s",
    "rescale.horizon": "24 h",
    "scaling.parallelism-alignment.mode": "OFF",
}
OF_PROMETHEUS = {"source": "prom", "match": "lab/*", "max-age": "3 s"}
CPU = {**OF_PROMETHEUS, "name": "cpu", "query": "avg(cpu)", "use": "gate", "condition": "< 0.8"}
CONNECTIONS = {
    **OF_PROMETHEUS,
    "name": "connections",
    "query": "connections",
    "use": "upper-limit",
    "per-subtask": 5,
    "unit": "connections",
}
BEHIND = {
    "name": "behind",
    "source": "brokers",
    "match": "*",
    "group": "${job}",
    "topics": ["${job}-in"],
    "use": "lag",
}
_PATIENCE_S = 45.0


@dataclass
class Loop:
    """Observes and decides twice a second, by the real clock."""

    observer: Observer
    cycle: Cycle
    told: RecordingEvents

    async def until(self, wanted: Callable[[Decision], bool]) -> Decision:
        """Go on until a decision about the job is what is wanted."""
        end = asyncio.get_running_loop().time() + _PATIENCE_S
        latest: Decision | None = None
        while asyncio.get_running_loop().time() < end:
            await self.observer.observe(datetime.now(UTC))
            for latest in await self.cycle.run(self.observer.latest, datetime.now(UTC)):
                if wanted(latest):
                    return latest
            await asyncio.sleep(0.5)
        pytest.fail("\n".join(explain(latest)) if latest else "nothing was decided")

    def about(self, reason: EventReason) -> list[Event]:
        """Give the events of a kind."""
        return [event for event in self.told.told if event.reason is reason]


@dataclass
class Both:
    """Keeps samples for the evaluation and in the log."""

    memory: InProcessEvaluator
    log: SampleLog

    def append(self, samples: object, /) -> None:
        """Keep the samples of one tick."""
        self.memory.append(samples)  # type: ignore[arg-type]
        self.log.append(samples)  # type: ignore[arg-type]


@asynccontextmanager
async def running(options: ServiceOptions) -> AsyncIterator[Loop]:
    """Put the service together over one cluster."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(FlinkClient(options.clusters[0]))
        clients, told = {"lab": client}, RecordingEvents()
        events = MergingEventHandler(told)
        sources = open_sources(options.signal_sources, options.signals)
        stack.push_async_callback(close_sources, sources)
        collector = WithSignals(
            FlinkMetricCollector(clients), sources, events=events, time_limit=options.collect_interval
        )
        memory = InProcessEvaluator(collect_interval=options.collect_interval, keep=timedelta(minutes=1))
        log = SampleLog(root_of(options.log))
        sink: SampleSink = Both(memory, log)
        evaluator: FleetEvaluator = memory
        outbox = Outbox(store=MemoryStateStore(), events=events)
        realizer = ResourceRequirementsRealizer(clients)
        observer = Observer(
            fetcher=FlinkJobListFetcher(clients, partial(for_job, options)),
            collector=collector,
            sink=sink,
            events=events,
            time_limit=timedelta(seconds=5),
        )
        cycle = Cycle(
            mode=options.mode,
            evaluator=evaluator,
            actuator=Actuator(collector=collector, realizer=realizer, outbox=outbox, events=events),
            outbox=outbox,
            events=events,
            decisions=log,
        )
        yield Loop(observer, cycle, told)


def configured(tmp_path: Path, server: FakeFlink, **signals: object) -> ServiceOptions:
    """Write a configuration file and read it."""
    written = {
        "clusters": [{"name": "lab", "url": server.url}],
        "mode": "act",
        "pipeline": "in-process",
        "collect.interval": "500 ms",
        "log.path": str(tmp_path / "samples"),
        "job.autoscaler": AUTOSCALER,
        **{key.replace("_", "-"): value for key, value in signals.items()},
    }
    file = tmp_path / "headgate.yaml"
    file.write_text(yaml.safe_dump(written))
    return load(file, {}, {}).options


def flink(job: FakeJob) -> FakeFlink:
    """Run a job on a fake Flink that measures at every look."""
    server = FakeFlink([job], wall_clock=True)
    server.config["metrics.fetcher.update-interval"] = "500"
    return server


def reasons(decision: Decision) -> set[Reason]:
    """Give every reason of every step."""
    return {step.reason for proposal in decision.proposals for step in proposal.steps}


async def test_a_gate_then_a_limit_then_nobody_to_ask(tmp_path: Path) -> None:
    """
    A job waits for the cluster's CPUs, grows to what the database allows, and is not shrunk blindly.

    Prometheus is real, and goes away in the end.
    """
    job = chain(job_id=f"{1:032x}", name="orders", vertices=2, rate=3_000, partitions=None)
    with prometheus.running() as server:
        server.expose("cpu 0.93\nconnections 30\n", "cpu", 0.93)
        async with flink(job) as engine:
            source = {"name": "prom", "type": "prometheus", "url": server.url, "refresh": "200 ms", "timeout": "1 s"}
            options = configured(
                tmp_path,
                engine,
                signal_sources=[source],
                signals=[CPU, CONNECTIONS],
            )
            async with running(options) as loop:
                waiting = await loop.until(lambda one: Reason.GATE in reasons(one))
                assert not waiting.acts
                assert any(line.startswith("  signal cpu: 0.93, ") for line in explain(waiting))

                server.expose("cpu 0.5\nconnections 30\n", "cpu", 0.5)
                grown = await loop.until(lambda one: one.acts)
                assert Reason.SIGNAL_LIMIT in reasons(grown)
                assert sum(grown.targets.values()) == 6
                assert not loop.about(EventReason.SIGNAL_UNAVAILABLE)

                server.stop()
                job.rate = 200
                held = await loop.until(lambda one: Reason.SIGNAL_MISSING in reasons(one))
                assert not held.acts
                assert sum(held.targets.values()) == 6
                told = loop.about(EventReason.SIGNAL_UNAVAILABLE)
                assert sorted(event.fields["signal"] for event in told) == ["connections", "cpu"]
                assert all("no connection to" in event.message for event in told)


async def test_the_lag_of_a_consumer_group_is_that_of_a_source_without_one(tmp_path: Path) -> None:
    """
    A legacy source keeps up and reports no lag; its group is 3,000 records behind, which the job must work off.

    Kafka is real, and what it said stands in the log.
    """
    job = chain(job_id=f"{2:032x}", name="orders", vertices=2, rate=500)
    vertex = VertexId(next(iter(job.vertices)).id)
    next(iter(job.vertices)).has_lag = False
    with kafka.running() as broker:
        broker.create("orders-in", 2)
        broker.produce("orders-in", {0: 2_000, 1: 2_000})
        broker.commit("orders", "orders-in", {0: 500, 1: 500})
        async with flink(job) as engine:
            options = configured(
                tmp_path,
                engine,
                signal_sources=[{"name": "brokers", "type": "kafka", "url": broker.address, "refresh": "300 ms"}],
                signals=[BEHIND],
            )
            async with running(options) as loop:
                decision = await loop.until(lambda one: one.evaluated is not None)
                assert decision.evaluated is not None
                known = decision.evaluated.vertices[vertex].metrics
                assert known[ScalingMetric.LAG] == 3_000
                assert known[ScalingMetric.CATCH_UP_DATA_RATE] > 0
                sample = loop.observer.latest[ORDERS].sample
                assert sample is not None
                assert sample.vertices[vertex].values[Measure.LAG] == 3_000
                assert LogReader(root_of(options.log)).signals(ORDERS, sample.at) == sample.signals
