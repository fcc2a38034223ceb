"""
Collecting from fleets: the samples of one tick are fetched together, in other processes, many clusters at once.

Every port sees a collector like any other. What was asked for within a moment goes out together, an errand a cluster.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.memory import JobMemory
from headgate.engines.flink.remote import Errand, Failure, Yield, pack, unpack
from headgate.engines.flink.standing import UNKNOWN, Standing
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext

GATHERING = timedelta(milliseconds=250)
"""How long a tick waits for those who ask for more of it: every cluster is listed on its own."""

_AT_ONCE = 4
"""Crews at work: that of a tick whose clusters were slow to be listed goes out beside the others."""

Crew = Callable[[Sequence[bytes], Sequence[int]], Sequence[bytes | str]]
"""
Runs packed errands, each as large as the number beside it, and gives their yields in the same order; blocking.

A text is why an errand came to nothing. Raises `UnreachableError` where all did.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A job whose sample somebody waits for."""

    ctx: JobContext
    answer: asyncio.Future[JobSample]


@dataclass(frozen=True, slots=True)
class _Remembered:
    """What is remembered of a job since a tick, packed."""

    at: datetime
    memory: bytes


@dataclass(kw_only=True)
class FleetMetricCollector:
    """
    A `ports.MetricCollector` of Flink jobs that lets others ask for the samples, and itself for all else.

    Whoever made it calls `close`.

    Attributes:
        clusters: those that are collected from by the crew; jobs of any other are asked about here.
        here: asks in this process.
        crew: asks elsewhere.
        time_limit: for the sample of one job, once the crew is at it.
    """

    clusters: Mapping[str, ClusterOptions]
    here: FlinkMetricCollector
    crew: Crew
    time_limit: timedelta
    gathering: timedelta = GATHERING
    _gathered: dict[datetime, list[_Asked]] = field(default_factory=dict)
    _memories: dict[JobKey, _Remembered] = field(default_factory=dict)
    _standings: dict[str, Standing] = field(default_factory=dict)
    _under_way: set[asyncio.Task[None]] = field(default_factory=set)
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_AT_ONCE, "headgate-fleet"))

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job, together with the others of this tick; the contract is the port's."""
        if ctx.key.cluster not in self.clusters:
            return await self.here.update_metrics(ctx, at)
        asked = _Asked(ctx=ctx, answer=asyncio.get_running_loop().create_future())
        if at not in self._gathered:
            self._gathered[at] = []
            collecting = asyncio.create_task(self._collect(at))
            self._under_way.add(collecting)
            collecting.add_done_callback(self._under_way.discard)
        self._gathered[at].append(asked)
        return await asked.answer

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs now."""
        if known := self._memories.get(ctx.key):
            self.here.remember(ctx.key, unpack(known.memory, JobMemory))
        return await self.here.query_topology(ctx)

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the JobManager's metrics."""
        return await self.here.query_jm_metrics(ctx)

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give the TaskManagers' metrics."""
        return await self.here.query_tm_metrics(ctx)

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Give nothing: what the engine does not have is asked elsewhere."""
        return await self.here.query_external_metrics(ctx)

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of a job."""
        self._memories.pop(job, None)
        self.here.forget(job)

    def close(self) -> None:
        """Begin nothing more; what is under way is waited for by nobody."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _collect(self, at: datetime) -> None:
        await asyncio.sleep(self.gathering.total_seconds())
        by_cluster = defaultdict[str, list[_Asked]](list)
        for asked in self._gathered.pop(at):
            by_cluster[asked.ctx.key.cluster].append(asked)
        try:
            await self._send(by_cluster, at)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, whatever it is
            _fail((asked for each in by_cluster.values() for asked in each), error)

    async def _send(self, by_cluster: Mapping[str, Sequence[_Asked]], at: datetime) -> None:
        errands = [self._errand(cluster, asked, at) for cluster, asked in by_cluster.items()]
        yields = await asyncio.get_running_loop().run_in_executor(self._threads, self._run, errands)
        for (cluster, asked), came in zip(by_cluster.items(), yields, strict=True):
            if isinstance(came, str):
                why = f"cluster {cluster} was not collected from: {came}"
                _fail(asked, UnreachableError(why))
            else:
                self._take(cluster, asked, came, at)

    def _run(self, errands: Sequence[Errand]) -> list[Yield | str]:
        """Let the crew run errands; in a thread, for packing takes its time too."""
        came = self.crew([pack(errand) for errand in errands], [len(errand.jobs) for errand in errands])
        return [each if isinstance(each, str) else unpack(each, Yield) for each in came]

    def _errand(self, cluster: str, asked: Iterable[_Asked], at: datetime) -> Errand:
        jobs = tuple(each.ctx for each in asked)
        known = (self._memories.get(ctx.key) for ctx in jobs)
        return Errand(
            cluster=self.clusters[cluster],
            at=at,
            time_limit=self.time_limit,
            jobs=jobs,
            memories=tuple(each.memory if each else None for each in known),
            standing=self._standings.get(cluster, UNKNOWN),
        )

    def _take(self, cluster: str, asked: Iterable[_Asked], came: Yield, at: datetime) -> None:
        self._standings[cluster] = came.standing
        for each, sample, memory in zip(asked, came.samples, came.memories, strict=True):
            self._remember(each.ctx.key, memory, at)
            if isinstance(sample, Failure):
                _fail((each,), NotFoundError(sample.why) if sample.gone else UnreachableError(sample.why))
            elif not each.answer.done():
                each.answer.set_result(sample)

    def _remember(self, job: JobKey, memory: bytes | None, at: datetime) -> None:
        """Keep what was remembered last: an errand of an earlier tick may come back behind that of a later one."""
        known = self._memories.get(job)
        if memory is not None and (known is None or known.at <= at):
            self._memories[job] = _Remembered(at, memory)


def _fail(asked: Iterable[_Asked], error: Exception) -> None:
    for each in asked:
        if not each.answer.done():
            each.answer.set_exception(error)
