"""Telling of queries that fail, once each; what their exceptions say stays in the application's own log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from headgate.algorithm.sickness import innermost
from headgate.engines.spark.attached.gateway import QueryFailure
from headgate.errors import HeadgateError
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.model.rollback import JobFailure
from headgate.ports import EventHandler, JobContext, JobList, JobListFetcher

FailedQueries = Callable[[JobContext], Awaitable[Sequence[QueryFailure]]]


async def none_failed(_: JobContext) -> Sequence[QueryFailure]:
    """Know of no failure."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureTellingJobs:
    """A `ports.JobListFetcher` that tells of each query which has failed since it looked last."""

    jobs: JobListFetcher
    failed_queries: FailedQueries
    events: EventHandler
    _told: set[str] = field(default_factory=set, init=False)

    async def fetch(self) -> JobList:
        """List the application, and tell of its queries."""
        listed = await self.jobs.fetch()
        for ctx in listed.jobs:
            with suppress(HeadgateError):  # it is asked again at the next tick
                self._tell(ctx.key, await self.failed_queries(ctx))
        return listed

    def _tell(self, job: JobKey, failures: Sequence[QueryFailure]) -> None:
        self._told.intersection_update(failure.run_id for failure in failures)
        for failure in failures:
            if failure.run_id not in self._told:
                self._told.add(failure.run_id)
                self.events.handle(query_failed(job, failure))


def query_failed(job: JobKey, failure: QueryFailure) -> Event:
    """Say which query failed, and by what class of exception."""
    cause = innermost(JobFailure(at=failure.at, text=failure.text))
    return Event(
        at=failure.at,
        type=EventType.WARNING,
        reason=EventReason.QUERY_FAILED,
        message=f"query {failure.query} has ended by {cause}; it does not count any more, the others do",
        key=f"{job}:{failure.run_id}:failed",
        subject=job,
        fields={"query": failure.query},
    )
