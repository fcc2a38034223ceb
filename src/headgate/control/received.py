"""Observing jobs by samples that another process has collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.options.live import Live, in_force
from headgate.ports import JobContext, MetricCollector

_PATIENCE = 4
"""Ticks of the collector after which a sample is too old: it may be a few seconds under way."""


class Received(Protocol):
    """Knows samples that have come, and are in the log."""

    def newest(self, job: JobKey) -> JobSample | None:
        """Give the newest sample of a job, None if none has come."""

    def forget(self, job: JobKey) -> None:
        """Drop what is known of a job that is gone."""


class ReceivedCollector:
    """A `ports.MetricCollector` whose samples have come from elsewhere; all else is asked of the engine."""

    def __init__(self, received: Received, engine: MetricCollector, *, interval: Live[timedelta]) -> None:
        """
        Take samples from what has been received.

        Args:
            received: the samples.
            engine: tells how the graph runs at this moment.
            interval: time between two ticks of whoever collects.
        """
        self._received = received
        self._engine = engine
        self._interval = interval

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """
        Give the newest sample that has come, which is of an earlier tick as a rule.

        Raises:
            UnreachableError: there is none, it is too old, or it is one of the job before this one.
        """
        sample = self._received.newest(ctx.key)
        if sample is None:
            message = "none has come through kafka since the start"
            raise UnreachableError(message)
        if sample.job_id != ctx.job_id:
            message = f"the newest that came through kafka is of {sample.job_id}, and the job is {ctx.job_id} by now"
            raise UnreachableError(message)
        if at - sample.at > _PATIENCE * in_force(self._interval):
            # Its instant and not its age, which would make each tick an event of its own.
            message = f"the newest that came through kafka is of {sample.at.isoformat()}"
            raise UnreachableError(message)
        return sample

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs now."""
        return await self._engine.query_topology(ctx)

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the engine's own."""
        return await self._engine.query_jm_metrics(ctx)

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give the engine's own."""
        return await self._engine.query_tm_metrics(ctx)

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Give the engine's own."""
        return await self._engine.query_external_metrics(ctx)

    def forget(self, job: JobKey, /) -> None:
        """Drop what has come of a job that is gone."""
        self._received.forget(job)
        self._engine.forget(job)


class KeptAlready:
    """A `ports.SampleSink` for samples that are in the log before anybody here sees them."""

    def append(self, samples: Sequence[JobSample], /) -> None:
        """Keep nothing."""
