"""Queries that fail are told of, once each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from headgate.agent.failing import FailureTellingJobs
from headgate.engines.spark.attached.gateway import QueryFailure
from headgate.errors import UnreachableError
from headgate.model.events import EventReason
from headgate.ports import JobContext, JobList
from headgate.testing.builders import ORDERS, at, context
from headgate.testing.fakes import RecordingEvents

FAILURE = QueryFailure(
    query="clicks",
    run_id="run-1",
    at=at(30),
    text="org.apache.spark.SparkException: aborted\nCaused by: java.sql.SQLException: no access with password hunter2",
)


@dataclass
class Application:
    """An application with queries that have failed."""

    failures: list[QueryFailure] = field(default_factory=list)
    answers: bool = True

    async def fetch(self) -> JobList:
        """List it."""
        return JobList(jobs=(context(),), failures={})

    async def failed_queries(self, _: JobContext) -> Sequence[QueryFailure]:
        """Tell of them."""
        if not self.answers:
            message = "the driver's JVM gave no answer"
            raise UnreachableError(message)
        return self.failures


async def test_each_failure_is_told_of_once() -> None:
    """Also where the same query fails again after it was started anew."""
    application, events = Application([FAILURE]), RecordingEvents()
    jobs = FailureTellingJobs(jobs=application, failed_queries=application.failed_queries, events=events)

    await jobs.fetch()
    await jobs.fetch()
    application.failures.append(replace(FAILURE, run_id="run-2", at=at(60)))
    await jobs.fetch()

    assert [(event.reason, event.subject, event.at) for event in events.told] == [
        (EventReason.QUERY_FAILED, ORDERS, at(30)),
        (EventReason.QUERY_FAILED, ORDERS, at(60)),
    ]


async def test_what_the_exception_says_is_not_repeated() -> None:
    """Its text may hold secrets: the class of its cause is told."""
    application, events = Application([FAILURE]), RecordingEvents()
    await FailureTellingJobs(jobs=application, failed_queries=application.failed_queries, events=events).fetch()

    (event,) = events.told
    assert event.message == "query clicks has ended by java.sql.SQLException; it does not count any more, the others do"


async def test_the_application_is_listed_whatever_is_known_of_failures() -> None:
    """Without an answer they are told of at the next look."""
    application, events = Application([FAILURE], answers=False), RecordingEvents()
    jobs = FailureTellingJobs(jobs=application, failed_queries=application.failed_queries, events=events)

    assert [job.key for job in (await jobs.fetch()).jobs] == [ORDERS]
    assert not events.told
    application.answers = True
    await jobs.fetch()
    assert len(events.told) == 1
