"""Where samples and decisions go, and what evaluates."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from headgate.algorithm.rules import reach
from headgate.engines.flink.local.java import find_java
from headgate.errors import UnreachableError
from headgate.options.service import Pipeline, ServiceOptions
from headgate.pipeline.downtime import DowntimeLearner, RescaleSource
from headgate.pipeline.downtime_book import NotedDecisions, NotedSamples, RescaleBook
from headgate.pipeline.early import EarlyEvaluator, FollowedSamples
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.pipeline.selected import WindowSource
from headgate.ports import CircumstanceSink, DecisionSink, EventHandler, FleetEvaluator, SampleSink
from headgate.samplelog.files import Address, root_of
from headgate.samplelog.windows import LogWindows
from headgate.samplelog.writer import SampleLog
from headgate.wiring.intake import open_intake
from headgate.wiring.streaming import Inflow, open_detour, open_inflow

if TYPE_CHECKING:
    from headgate.pipeline.revival import RevivingEvaluator


def _no_session() -> Any:
    message = "the pipeline runs in process, without Spark"
    raise UnreachableError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPath:
    """Where samples and decisions go, and what evaluates."""

    samples_of: Callable[[str], SampleSink]
    """The sink of a cluster's samples."""
    decisions: DecisionSink
    early_decisions: DecisionSink
    """Those that are made before their turn: a cycle's are the last word on all jobs, and these on a few."""
    evaluator: FleetEvaluator
    early: FleetEvaluator | None
    """Evaluates those few; None: as all others."""
    windows: WindowSource
    """Gives samples back, for jobs that are evaluated apart."""
    circumstances: CircumstanceSink | None
    """Where it is kept what decisions depended on; None: where samples are not, nothing can be made again."""
    downtimes: DowntimeLearner
    """Learns from the same samples and decisions how long rescales stop jobs."""
    inflow: Inflow | None = None
    """Receives the samples that another process collects; None: this one does."""
    running_session: Callable[[], Any] = _no_session
    """Gives a Spark session that runs; blocking, and raises `UnreachableError` where there is none to be had."""


def data_path(
    options: ServiceOptions, now: Callable[[], ServiceOptions], told: EventHandler, stack: AsyncExitStack
) -> DataPath:
    """
    Choose where windows are kept and reduced; decisions go to the log either way, for `explain`, those of agents too.

    Raises:
        ConfigError: reports of agents cannot be taken in as the options say, or samples cannot be sent away so.
    """
    open_intake(options, told, stack)
    root = root_of(options.log)
    decisions, early_decisions = (SampleLog(root, shard=shard_of_this_process(time.time())) for _ in range(2))
    detour = open_detour(options, stack)
    if options.pipeline is Pipeline.IN_PROCESS:
        memory = InProcessEvaluator(collect_interval=lambda: now().collect_interval, keep=lambda: longest_reach(now()))
        book = RescaleBook()
        return DataPath(
            samples_of=lambda _: detour or NotedSamples(memory, book),
            decisions=NotedDecisions(decisions, book),
            early_decisions=NotedDecisions(early_decisions, book),
            evaluator=memory,
            early=None,
            windows=memory,
            circumstances=None,
            downtimes=DowntimeLearner(book),
        )
    inflow = open_inflow(options, told)
    spark = _spark_evaluator(options, now, inflow, root)
    early = EarlyEvaluator(root, collect_interval=lambda: now().collect_interval, keep=lambda: longest_reach(now()))
    stack.push_async_callback(asyncio.to_thread, spark.close)
    if inflow:
        stack.push_async_callback(asyncio.to_thread, inflow.stream.close)
    return DataPath(
        samples_of=lambda cluster: detour or FollowedSamples(SampleLog(root, shard=shard_of(cluster)), early),
        decisions=decisions,
        early_decisions=early_decisions,
        evaluator=spark,
        early=early,
        windows=LogWindows(root),
        circumstances=decisions,
        downtimes=DowntimeLearner(_log_rescales(spark, root)),
        running_session=spark.running,
        inflow=inflow,
    )


def shard_of(cluster: str) -> str:
    """Name the files of a cluster's samples: the same in every process, whatever the cluster is called."""
    return hashlib.sha256(cluster.encode()).hexdigest()[:8]


def shard_of_this_process(started_s: float) -> str:
    """
    Name the files of a process's decisions, unlike those of any other that writes to the same log.

    Args:
        started_s: seconds since 1970; of two decisions of one tick the one of the process that started later counts,
            as its name sorts behind.
    """
    return f"{int(started_s):08x}{secrets.token_hex(4)}"


def _spark_evaluator(
    options: ServiceOptions, now: Callable[[], ServiceOptions], inflow: Inflow | None, log: Address
) -> RevivingEvaluator:
    # PySpark is imported only where it is used: without it a command starts in a fraction of the time.
    from headgate.pipeline.live import SparkEvaluator  # noqa: PLC0415
    from headgate.pipeline.packages import session_settings  # noqa: PLC0415
    from headgate.pipeline.revival import RevivingEvaluator  # noqa: PLC0415
    from headgate.pipeline.session import open_session  # noqa: PLC0415

    def evaluator_over(session: Any) -> FleetEvaluator:
        evaluator = SparkEvaluator(session, log, collect_interval=lambda: now().collect_interval)
        return inflow.over(session, evaluator) if inflow else evaluator

    return RevivingEvaluator(
        open_session=lambda: open_session(
            options.spark_master,
            java_home=find_java().home,
            settings=session_settings(options),
        ),
        evaluator_over=evaluator_over,
    )


def _log_rescales(spark: RevivingEvaluator, log: Address) -> RescaleSource:
    from headgate.pipeline.downtime_log import LogRescales  # noqa: PLC0415

    return LogRescales(lambda: spark.session, log)


def longest_reach(options: ServiceOptions) -> timedelta:
    """Give how far back samples of any job may count."""
    return max(reach(one) for one in (options.autoscaler, *(job.autoscaler for job in options.jobs)))
