"""The composition root: from options to a running service. Nothing else makes adapters."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from headgate.config import for_job
from headgate.config.secrets import resolve
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.control.runner import Listener, Runner
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.local.java import find_java
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.errors import ConfigError
from headgate.events.best_effort import BestEffortEventHandler
from headgate.events.log import LogEventHandler
from headgate.events.merging import MergingEventHandler
from headgate.options.service import Pipeline, ServiceOptions
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.ports import DecisionSink, EventHandler, FleetEvaluator, SampleSink, StateStore
from headgate.samplelog.upkeep import upkeep
from headgate.samplelog.writer import SampleLog
from headgate.stores.opening import open_store
from headgate.telemetry.board import Board
from headgate.telemetry.server import served
from headgate.telemetry.tap import Tap

if TYPE_CHECKING:
    from headgate.pipeline.revival import RevivingEvaluator


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPath:
    """Where samples and decisions go, and what evaluates."""

    samples_of: Callable[[str], SampleSink]
    """The sink of a cluster's samples."""
    decisions: DecisionSink
    evaluator: FleetEvaluator


@asynccontextmanager
async def service(
    options: ServiceOptions,
    *,
    on_decisions: Listener = lambda _: None,
    events: EventHandler | None = None,
    decisions: DecisionSink | None = None,
) -> AsyncIterator[Runner]:
    """
    Give a runner over all clusters of the options; what it opened is closed at the end.

    Events and decisions go to the given places instead of the usual ones, if any are given.

    Raises:
        ConfigError: a file or secret that the options name is not there, or the metrics' address cannot be had.
    """
    async with AsyncExitStack() as stack:
        tap = _tap(options, stack)
        clients = {cluster.name: await stack.enter_async_context(FlinkClient(cluster)) for cluster in options.clusters}
        saved, told = _tellers(events or LogEventHandler(), tap)
        collector = FlinkMetricCollector(clients)
        data = data_path(options, stack)
        outbox = Outbox(store=_open_store(options.state_store), events=saved)
        realizer = ResourceRequirementsRealizer(clients)
        yield Runner(
            observers=tuple(
                Observer(
                    fetcher=tap.fetcher(name, FlinkJobListFetcher({name: client}, partial(for_job, options))),
                    collector=collector,
                    sink=data.samples_of(name),
                    events=told,
                    time_limit=collect_time_limit(options),
                )
                for name, client in clients.items()
            ),
            cycle=Cycle(
                mode=options.mode,
                evaluator=data.evaluator,
                actuator=Actuator(collector=collector, realizer=realizer, outbox=outbox, events=told),
                outbox=outbox,
                events=told,
                decisions=decisions or data.decisions,
            ),
            events=told,
            collect_interval=options.collect_interval,
            decide_interval=options.decide_interval,
            on_decisions=tap.decisions(on_decisions),
            on_tick=tap.ticks,
            upkeep=partial(upkeep, options.log),
        )


def _tap(options: ServiceOptions, stack: AsyncExitStack) -> Tap:
    address = options.metrics.listen_on
    if address is None:
        return Tap()
    board = Board()
    stack.enter_context(served(board, address))
    return Tap(board=board)


def _tellers(handler: EventHandler, tap: Tap) -> tuple[EventHandler, EventHandler]:
    """Give who tells what is saved, and says when that failed, and who tells the rest and never fails."""
    merged = MergingEventHandler(handler)
    return tap.events(merged), tap.events(BestEffortEventHandler(merged))


def _open_store(reference: str) -> StateStore:
    try:
        return open_store(resolve(reference))
    except ValueError as error:
        raise ConfigError([f"state-store: {error}"]) from error


def collect_time_limit(options: ServiceOptions) -> timedelta:
    """Bound the collection of one job: no tick is held up for longer than a request or a tick may last."""
    return max(options.collect_interval, *(cluster.request_timeout for cluster in options.clusters))


def data_path(options: ServiceOptions, stack: AsyncExitStack) -> DataPath:
    """Choose where windows are kept and reduced; decisions go to the log either way, for `explain`."""
    decisions = SampleLog(options.log.path)
    if options.pipeline is Pipeline.IN_PROCESS:
        memory = InProcessEvaluator(collect_interval=options.collect_interval, keep=longest_window(options))
        return DataPath(samples_of=lambda _: memory, decisions=decisions, evaluator=memory)
    spark = _spark_evaluator(options)
    stack.push_async_callback(asyncio.to_thread, spark.close)
    return DataPath(
        samples_of=lambda cluster: SampleLog(options.log.path, shard=shard_of(cluster)),
        decisions=decisions,
        evaluator=spark,
    )


def shard_of(cluster: str) -> str:
    """Name the files of a cluster's samples: the same in every process, whatever the cluster is called."""
    return hashlib.sha256(cluster.encode()).hexdigest()[:8]


def _spark_evaluator(options: ServiceOptions) -> RevivingEvaluator:
    # PySpark is imported only where it is used: without it a command starts in a fraction of the time.
    from headgate.pipeline.live import SparkEvaluator  # noqa: PLC0415
    from headgate.pipeline.revival import RevivingEvaluator  # noqa: PLC0415
    from headgate.pipeline.session import open_session  # noqa: PLC0415

    return RevivingEvaluator(
        open_session=lambda: open_session(
            options.spark_master, java_home=find_java().home, settings=options.spark_settings
        ),
        evaluator_over=lambda session: SparkEvaluator(
            session, options.log.path, collect_interval=options.collect_interval
        ),
    )


def longest_window(options: ServiceOptions) -> timedelta:
    """Give the longest metric window that any job may have."""
    return max(one.metrics_window for one in (options.autoscaler, *(job.autoscaler for job in options.jobs)))
