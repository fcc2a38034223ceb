"""
Observes Flink jobs over REST: one call a job, one or two a source, one more where the hottest subtask is asked for.

What only the cluster knows is asked once a tick for all its jobs. Values are counters; rates are left to the windows.
`details` reads the graph and the counters, `look` knows the engine's clock, staleness and epochs, `source` lag and
input, `load` the subtasks, `workers` the TaskManagers, `gauges` what the reference autoscaler would read instead.
`standstill` asks once a minute for the size of the state, and after a restart how long that took.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from headgate.algorithm.rules import rules_of
from headgate.engines.flink.checkpoints import read_last_checkpoint
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.details import JobDetails, read_details
from headgate.engines.flink.memory import JobMemory
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.overview import Slots, read_slots, read_values
from headgate.engines.flink.shared import Shared
from headgate.engines.flink.standing import UNKNOWN, Standing, StandingSettings
from headgate.engines.flink.standstill import Standstills
from headgate.engines.flink.tick import Tick
from headgate.engines.flink.waiting import Waiting
from headgate.engines.flink.workers import WorkerMetrics
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.options.deviations import Deviation
from headgate.ports import EndOffsets, JobContext

_JOBMANAGER_METRICS = ("taskSlotsTotal", "taskSlotsAvailable", "numRegisteredTaskManagers", "numRunningJobs")

_NOTHING: Mapping[str, Standing] = MappingProxyType({})


class FlinkMetricCollector:
    """Collects the samples of jobs on any number of clusters. Implements `headgate.ports.MetricCollector`."""

    def __init__(
        self,
        clients: Mapping[str, FlinkClient],
        *,
        standing: Mapping[str, Standing] = _NOTHING,
        offsets: EndOffsets | None = None,
    ) -> None:
        """
        Ask nothing yet.

        Args:
            clients: the clusters by name; whoever made them closes them.
            standing: what another collector knew of them.
            offsets: knows where the topics end that jobs read; None: brokers are not asked, whatever is declared.
        """
        self._offsets = offsets
        self._clusters = {name: _Cluster.of(client, standing.get(name, UNKNOWN)) for name, client in clients.items()}
        self._jobs: dict[JobKey, JobMemory] = {}

    def remembered(self, job: JobKey) -> JobMemory | None:
        """Give what is remembered of a job between samples, for another collector to go on with."""
        return self._jobs.get(job)

    def remember(self, job: JobKey, memory: JobMemory) -> None:
        """Go on with what another collector remembered of a job."""
        self._jobs[job] = memory

    def standing(self, cluster: str) -> Standing:
        """Give what is known of a cluster for some minutes."""
        return self._clusters[cluster].settings.known

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job; the contract is the port's."""
        cluster, memory = self._clusters[ctx.key.cluster], self._memory(ctx)
        asked_s = asyncio.get_running_loop().time()
        details = await cluster.client.get(f"/jobs/{ctx.job_id}", read_details)
        settings = await cluster.settings.read(memory, adaptive=details.adaptive, at=at)
        tick = Tick(
            client=cluster.client,
            job_id=ctx.job_id,
            at=at,
            refresh=timedelta(seconds=settings.metric_refresh_s),
            options=ctx.options,
            details=details,
            asked_s=asked_s,
            memory=memory,
            waiting=Waiting(
                client=cluster.client,
                ctx=ctx,
                offsets=self._offsets if self._offsets is not None and self._offsets.serves(ctx) else None,
                checkpoint_interval_s=settings.checkpoint_interval_s,
                running_since=instant(details.running_since_ms),
                now=instant(details.now_ms),
            ),
            by_gauges=Deviation.COUNTERS_FIRST not in rules_of(ctx.options),
        )
        vertices = await tick.observe()
        slots, values, checkpointed_at, standstill = await asyncio.gather(
            cluster.slots.get(at),
            cluster.values.get(at),
            read_last_checkpoint(cluster.client, ctx),
            cluster.standstills.measure(ctx, memory, details, at),
        )
        declared = self._offsets is None or tick.waiting.offsets is not None
        told = {} if tick.by_gauges else memory.of_sources(_running_sources(details), declared=declared)
        return JobSample(
            job=ctx.key,
            at=at,
            job_id=ctx.job_id,
            running_since=instant(details.running_since_ms),
            topology=_topology(details, memory),
            vertices=vertices,
            settings=settings,
            slots_total=slots.total if slots else None,
            slots_free=slots.free if slots else None,
            values={**(values or {}), **standstill, **told},
            checkpointed_at=checkpointed_at,
        )

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as the job runs it now, as fresh as the JobManager's own cache."""
        details = await self._clusters[ctx.key.cluster].client.get(f"/jobs/{ctx.job_id}", read_details)
        return _topology(details, self._memory(ctx))

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the JobManager's slots, TaskManagers and jobs under Flink's names; one it does not know is absent."""
        client = self._clusters[ctx.key.cluster].client
        values = await client.get(f"/jobmanager/metrics?get={','.join(_JOBMANAGER_METRICS)}", read_values)
        return {name: value for name, value in values.items() if value is not None}

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give the memory and garbage collection of the TaskManagers under Flink's names."""
        return await self._clusters[ctx.key.cluster].workers.aggregates()

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:  # noqa: ARG002 - the port hands it over
        """Give nothing: what the engine does not have is asked elsewhere."""
        return {}

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of a job; one never seen is no error."""
        self._jobs.pop(job, None)
        if self._offsets is not None:
            self._offsets.forget(job)

    def _memory(self, ctx: JobContext) -> JobMemory:
        memory = self._jobs.get(ctx.key)
        if memory is None or memory.job_id != ctx.job_id:
            memory = self._jobs[ctx.key] = JobMemory(job_id=ctx.job_id)
        return memory


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    """A cluster's client, and what its jobs share."""

    client: FlinkClient
    slots: Shared[Slots]
    values: Shared[Mapping[JobMeasure, float]]
    workers: WorkerMetrics
    settings: StandingSettings
    standstills: Standstills

    @classmethod
    def of(cls, client: FlinkClient, standing: Standing) -> _Cluster:
        workers = WorkerMetrics(client)
        return cls(
            client=client,
            workers=workers,
            slots=Shared(lambda: client.get("/overview", read_slots)),
            values=Shared(workers.read),
            settings=StandingSettings(client, standing),
            standstills=Standstills(client),
        )


def _running_sources(details: JobDetails) -> list[VertexId]:
    return [vertex.id for vertex in details.vertices if vertex.id in details.sources and not vertex.finished]


def _topology(details: JobDetails, memory: JobMemory) -> Topology:
    """Put the graph together, with the partitions that the sources' metric names tell."""
    vertices = tuple(
        replace(vertex, partitions=known.names.partitions)
        if (known := memory.vertex(vertex.id).names) is not None and known.names.partitions is not None
        else vertex
        for vertex in details.graph
    )
    return memory.topology(vertices, details.edges)
