"""Observes the applications of a cluster from outside. Implements `MetricCollector` and `FailureHistory`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.model.identity import JobKey
from headgate.model.rollback import JobFailures
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.ports import JobContext


class SparkMetricCollector:
    """Reads event logs on, and asks the master what still runs."""

    def __init__(self, cluster: SparkCluster) -> None:
        """Look at nothing yet."""
        self._cluster = cluster

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the application; the contract is the port's."""
        watched = await self._cluster.look(ctx)
        sample = watched.sample(ctx.key, at)
        return replace(sample, topology=self._cluster.bounded(sample.topology, watched))

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs now."""
        watched = await self._cluster.look(ctx)
        return self._cluster.bounded(watched.topology(), watched)

    async def query_jm_metrics(self, _ctx: JobContext, /) -> Mapping[str, float]:
        """Know nothing: there is no JobManager."""
        return {}

    async def query_tm_metrics(self, _ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Know nothing: there are no TaskManagers."""
        return {}

    async def query_external_metrics(self, _ctx: JobContext, /) -> Mapping[str, Signal]:
        """Know nothing of other systems."""
        return {}

    def forget(self, job: JobKey, /) -> None:
        """Drop what was learnt of an application; its log is read anew when it is looked at again."""
        self._cluster.forget(job)


class SparkFailureHistory:
    """Knows of queries that an exception terminated, by the event log."""

    def __init__(self, cluster: SparkCluster) -> None:
        """Look at nothing yet."""
        self._cluster = cluster

    async def query_failures(self, ctx: JobContext, since: datetime, /) -> JobFailures:
        """Give the failures since an instant; the contract is the port's."""
        return JobFailures(failures=(await self._cluster.look(ctx)).failures(since))
