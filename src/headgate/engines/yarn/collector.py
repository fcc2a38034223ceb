"""Observes the jobs of Flink applications that come and go. Implements `headgate.ports.MetricCollector`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from headgate.engines.yarn.applications import Applications
from headgate.model.identity import JobKey
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.ports import JobContext, MetricCollector


class YarnMetricCollector:
    """Hands every question to the Flink collector of the job's application; one that is over is not found."""

    def __init__(self, applications: Applications, others: MetricCollector | None = None) -> None:
        """
        Look there at each call.

        Args:
            applications: of one YARN cluster.
            others: observes the jobs of all other clusters; None where there are none.
        """
        self._applications = applications
        self._others = others

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job; the contract is the port's."""
        return await self._of(ctx).update_metrics(ctx, at)

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs now."""
        return await self._of(ctx).query_topology(ctx)

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the JobManager's metrics."""
        return await self._of(ctx).query_jm_metrics(ctx)

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give the TaskManagers' metrics."""
        return await self._of(ctx).query_tm_metrics(ctx)

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Give what the Flink collector knows of other systems."""
        return await self._of(ctx).query_external_metrics(ctx)

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of a job; with an application that is over everything is forgotten anyway."""
        if job.cluster in self._applications.running:
            self._applications.running[job.cluster].collector.forget(job)
        elif self._others is not None and not self._applications.owns(job.cluster):
            self._others.forget(job)

    def _of(self, ctx: JobContext) -> MetricCollector:
        if self._others is not None and not self._applications.owns(ctx.key.cluster):
            return self._others
        return self._applications.find(ctx.key.cluster).collector
