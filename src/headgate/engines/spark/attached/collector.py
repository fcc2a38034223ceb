"""Observes the application from inside of its driver: what queries report, and what the driver knows of its stages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from headgate.engines.spark.attached.batches import Batches
from headgate.engines.spark.attached.calls import Calls
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import Gateway
from headgate.engines.spark.attached.room import RoomFinder, with_room
from headgate.engines.spark.attached.scope import Scope
from headgate.engines.spark.sampling import Sampler
from headgate.model.identity import JobKey
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.ports import JobContext


class AttachedMetricCollector:
    """Collects the samples of the application that it runs in. Implements `headgate.ports.MetricCollector`."""

    def __init__(
        self,
        gateway: Gateway,
        feed: ProgressFeed,
        *,
        calls: Calls | None = None,
        only: str | None = None,
        room: RoomFinder | None = None,
    ) -> None:
        """
        Ask nothing yet.

        Args:
            gateway: to the driver.
            feed: where a listener puts progress; where none does, queries are asked.
            calls: makes the blocking calls; give all that share a gateway the same.
            only: the one query that counts, by its name or its id; None: all do.
            room: tells what the cluster could give, for reactive mode; None: the slots are those of the executors.
        """
        self._scope = Scope(gateway, only)
        self._batches = Batches(gateway, feed)
        self._sampler = Sampler()
        self._calls = calls or Calls()
        self._room = room

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job; the contract is the port's."""
        return await self._calls.make(partial(self._sample, ctx, at))

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs now."""
        return await self._calls.make(partial(self._topology, ctx))

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give how many executors, cores and active queries there are."""
        return await self._calls.make(partial(self._counts, ctx))

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:  # noqa: ARG002 - the port hands it over
        """Give nothing: executors report no metrics to the driver that anything here reads."""
        return {}

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:  # noqa: ARG002
        """Give nothing: what the engine does not have is asked elsewhere."""
        return {}

    def forget(self, job: JobKey, /) -> None:  # noqa: ARG002
        """Drop what was learnt; there is no other job."""
        self._sampler.forget()

    def _sample(self, ctx: JobContext, at: datetime) -> JobSample:
        self._scope.confirm(ctx)
        executors, queries = self._scope.gateway.executors(), self._scope.queries()
        self._sampler.hear(queries)
        for batch in self._batches.take(queries, cores=executors.cores):
            self._sampler.note(batch, executors)
        sample = self._sampler.sample(ctx.key, at, job_id=ctx.job_id, executors=executors, queries=queries)
        return with_room(sample, self._room(executors.cores_each), executors) if self._room else sample

    def _topology(self, ctx: JobContext) -> Topology:
        self._scope.confirm(ctx)
        return self._sampler.topology(self._scope.gateway.executors(), self._scope.queries())

    def _counts(self, ctx: JobContext) -> Mapping[str, float]:
        self._scope.confirm(ctx)
        executors = self._scope.gateway.executors()
        return {
            "executors": float(len(executors.ids)),
            "cores": float(executors.cores),
            "queries": float(len(self._scope.queries())),
        }
