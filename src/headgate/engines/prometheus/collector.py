"""
Observes Flink jobs through a Prometheus server that scrapes them: one query a metric and tick, however many jobs.

Flink itself is asked for `/jobs/:id`, for graph, parallelism and start, as Prometheus knows no edges; for settings and
checkpoints now and then. A sample is dated by its scrapes; between two scrapes there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from headgate.algorithm.rules import rules_of
from headgate.engines.flink.checkpoints import read_last_checkpoint
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.details import JobDetails, read_details
from headgate.engines.flink.numbers import instant
from headgate.engines.prometheus.cluster import ScrapedCluster
from headgate.engines.prometheus.memory import ScrapedJob
from headgate.engines.prometheus.server import PrometheusServer
from headgate.engines.prometheus.tick import Tick
from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.options.deviations import Deviation
from headgate.ports import JobContext

_PATIENCE = 4
"""Scrape intervals after which a running job must have been scraped."""


class PrometheusMetricCollector:
    """Collects the samples of jobs on clusters that are scraped. Implements `headgate.ports.MetricCollector`."""

    def __init__(self, clients: Mapping[str, FlinkClient], servers: Mapping[str, PrometheusServer]) -> None:
        """
        Ask nothing yet.

        Args:
            clients: Flink clusters by name, with all that are scraped; whoever made them closes them.
            servers: the Prometheus servers by the name of the cluster that they scrape; closed by whoever made them.
        """
        self._clusters = {name: ScrapedCluster(clients[name], server) for name, server in servers.items()}
        self._jobs: dict[JobKey, ScrapedJob] = {}

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job; the contract is the port's."""
        cluster, memory = self._cluster(ctx), self._memory(ctx)
        tick = await _read(cluster, memory, ctx, at)
        settings = await cluster.settings.read(memory, adaptive=tick.details.adaptive, at=at)
        standstill, slots, values, checkpointed_at, memory.partitions = await asyncio.gather(
            cluster.standstills.measure(ctx, memory, tick.details, at),
            cluster.slots.get(at),
            cluster.values.get(at),
            read_last_checkpoint(cluster.client, ctx),
            cluster.partitions(ctx.job_id, at),
        )
        return JobSample(
            job=ctx.key,
            at=at,
            job_id=ctx.job_id,
            running_since=instant(tick.details.running_since_ms),
            topology=_topology(tick.details, memory),
            vertices=tick.observe(),
            settings=replace(settings, metric_refresh_s=cluster.scrape_interval.total_seconds()),
            slots_total=slots.total if slots else None,
            slots_free=slots.free if slots else None,
            values={**(values or {}), **standstill},
            checkpointed_at=checkpointed_at,
        )

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as the job runs it now, as fresh as the JobManager's own cache."""
        details = await self._cluster(ctx).client.get(f"/jobs/{ctx.job_id}", read_details)
        return _topology(details, self._memory(ctx))

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the JobManager's slots, TaskManagers and jobs under Flink's names; one that is unknown is absent."""
        return await self._cluster(ctx).processes.of_job_manager()

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give the memory and garbage collection of the TaskManagers under Flink's names."""
        return await self._cluster(ctx).processes.aggregates()

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:  # noqa: ARG002 - the port hands it over
        """Give nothing: other metrics of the same Prometheus are declared as signals."""
        return {}

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of a job; one never seen is no error."""
        self._jobs.pop(job, None)

    def _cluster(self, ctx: JobContext) -> ScrapedCluster:
        cluster = self._clusters.get(ctx.key.cluster)
        if cluster is None:
            message = f"cluster {ctx.key.cluster} is not scraped. Hint: set its `prometheus.url`"
            raise UnreachableError(message)
        return cluster

    def _memory(self, ctx: JobContext) -> ScrapedJob:
        memory = self._jobs.get(ctx.key)
        if memory is None or memory.job_id != ctx.job_id:
            memory = self._jobs[ctx.key] = ScrapedJob(job_id=ctx.job_id)
        return memory


async def _read(cluster: ScrapedCluster, memory: ScrapedJob, ctx: JobContext, at: datetime) -> Tick:
    """Read what a tick of a job is about; of several jobs only the first one asks Prometheus."""
    clock = asyncio.get_running_loop().time
    asked_s = clock()
    details = await cluster.client.get(f"/jobs/{ctx.job_id}", read_details)
    by_gauges = Deviation.COUNTERS_FIRST not in rules_of(ctx.options)
    scrapes = await cluster.scrapes(at, gauges=by_gauges or memory.lacks_times)
    tick = Tick(
        at=at,
        now_ms=details.now_ms + (clock() - asked_s) * 1000,
        options=ctx.options,
        details=details,
        scrapes=scrapes,
        memory=memory,
        by_gauges=by_gauges,
    )
    _refuse_silence(ctx, cluster, tick)
    return tick


def _refuse_silence(ctx: JobContext, cluster: ScrapedCluster, tick: Tick) -> None:
    """Fail where a job was never scraped, which waiting does not mend; a young one may not have been yet."""
    runs = any(vertex.all_running for vertex in tick.details.vertices)
    ran_s = (tick.now_ms - tick.details.running_since_ms) / 1000
    if runs and ran_s > _PATIENCE * cluster.scrape_interval.total_seconds() and not tick.scrapes.knows(ctx.job_id):
        hint = "does it scrape the TaskManagers as often as `scrape-interval` says, and do `matchers` fit?"
        message = f"{cluster.name} has no metrics of job {ctx.key} with id {ctx.job_id}. Hint: {hint}"
        raise UnreachableError(message)


def _topology(details: JobDetails, memory: ScrapedJob) -> Topology:
    """Put the graph together, with the partitions that the sources' metrics tell."""
    vertices = tuple(
        replace(vertex, partitions=memory.partitions[vertex.id]) if vertex.id in memory.partitions else vertex
        for vertex in details.graph
    )
    return memory.topology(vertices, details.edges)
