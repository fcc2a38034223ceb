"""Flink clusters that come and go, each with ports of its own: every call goes to those of the job's cluster."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from headgate.model.identity import JobKey
from headgate.model.rollback import JobFailures
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.ports import FailureHistory, JobContext, MetricCollector


class Ports(Protocol):
    """One cluster, as the ports see it."""

    @property
    def collector(self) -> MetricCollector:
        """What observes its jobs."""

    @property
    def history(self) -> FailureHistory:
        """What knows of their failures."""


class Clusters(Protocol):
    """Those of one manager of clusters."""

    def owns(self, cluster: str) -> bool:
        """Tell whether a cluster is, or was, one of them."""

    def find(self, cluster: str) -> Ports:
        """
        Give the ports of one that runs.

        Raises:
            NotFoundError: it does not.
        """

    def known(self, cluster: str) -> Ports | None:
        """Give the ports of one that runs; None of any other."""


class ClustersMetricCollector:
    """Hands every question to the collector of the job's cluster. Implements `headgate.ports.MetricCollector`."""

    def __init__(self, clusters: Clusters, others: MetricCollector | None = None) -> None:
        """
        Look there at each call.

        Args:
            clusters: those that come and go; a job of one that is gone is not found.
            others: observes the jobs of all other clusters; None where there are none.
        """
        self._clusters = clusters
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
        """Give what the cluster's collector knows of other systems."""
        return await self._of(ctx).query_external_metrics(ctx)

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of a job; with a cluster that is gone everything is forgotten anyway."""
        if ports := self._clusters.known(job.cluster):
            ports.collector.forget(job)
        elif self._others is not None and not self._clusters.owns(job.cluster):
            self._others.forget(job)

    def _of(self, ctx: JobContext) -> MetricCollector:
        if self._others is not None and not self._clusters.owns(ctx.key.cluster):
            return self._others
        return self._clusters.find(ctx.key.cluster).collector


class ClustersFailureHistory:
    """Hands every question to the history of the job's cluster. Implements `headgate.ports.FailureHistory`."""

    def __init__(self, clusters: Clusters, others: FailureHistory | None = None) -> None:
        """
        Look there at each call.

        Args:
            clusters: those that come and go; a job of one that is gone is not found.
            others: knows the jobs of all other clusters; None where there are none.
        """
        self._clusters = clusters
        self._others = others

    async def query_failures(self, ctx: JobContext, since: datetime, /) -> JobFailures:
        """Give the failures since an instant; the contract is the port's."""
        if self._others is not None and not self._clusters.owns(ctx.key.cluster):
            return await self._others.query_failures(ctx, since)
        return await self._clusters.find(ctx.key.cluster).history.query_failures(ctx, since)
