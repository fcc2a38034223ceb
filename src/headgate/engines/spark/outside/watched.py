"""One application as it is seen from outside: its event log, read on, and what that adds up to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from headgate.engines.spark.application import Executors, RunningQuery
from headgate.engines.spark.outside.event_log import EventLog
from headgate.engines.spark.outside.ledger import Ledger
from headgate.engines.spark.sampling import Sampler
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.rollback import JobFailure
from headgate.model.samples import JobSample
from headgate.model.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a reading has left of the ledger: it changes in one step, whatever is being read."""

    queries: tuple[RunningQuery, ...] = ()
    executors: Executors | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[JobFailure, ...] = ()
    over: bool = False

    @classmethod
    def of(cls, ledger: Ledger) -> Seen:
        """Take it from a ledger that nobody changes meanwhile."""
        return cls(
            queries=tuple(ledger.queries.values()),
            executors=ledger.executors,
            settings=ledger.settings,
            failures=tuple(ledger.failures),
            over=ledger.over,
        )


class WatchedApplication:
    """
    An application under its id. Any number of calls at once: the log is read by one at a time.

    Attributes:
        id: of this start of its driver.
    """

    def __init__(self, application: str, log_dir: Path, readers: Executor) -> None:
        """
        Read nothing yet.

        Args:
            application: its id.
            log_dir: of the logs of all applications.
            readers: in whose threads logs are read.
        """
        self.id = application
        self._log = EventLog(log_dir, application)
        self._ledger = Ledger()
        self._sampler = Sampler()
        self._begun = 0
        self._seen = Seen()
        self._readers = readers
        self._reading: Future[None] | None = None

    async def follow(self) -> None:
        """
        Take in what was logged since the last time.

        Raises:
            UnreachableError: there is no log, or it cannot be read.
            UnsupportedError: it is compressed.
            NotFoundError: the application has ended, by its own word.
        """
        if self._reading is None or self._reading.done():
            self._reading = self._readers.submit(self._follow)
        # Whoever loses patience leaves the reading to those who come after: two would count everything twice.
        await asyncio.shield(asyncio.wrap_future(self._reading))
        if self._seen.over:
            message = f"application {self.id} has ended"
            raise NotFoundError(message)

    @property
    def is_streaming(self) -> bool:
        """Whether a query of it is active."""
        return bool(self._seen.queries)

    @property
    def executors(self) -> Executors:
        """
        Which executors there are.

        Raises:
            UnreachableError: its log has not begun.
        """
        executors = self._seen.executors
        if executors is None:
            message = f"the event log of {self.id} does not tell of its start yet"
            raise UnreachableError(message)
        return executors

    def setting(self, key: str, default: str = "") -> str:
        """Give one of its own settings, by Spark's name."""
        return self._seen.settings.get(key, default)

    def sample(self, job: JobKey, at: datetime) -> JobSample:
        """Give what is known at an instant, by the log as it was followed last."""
        queries = self._seen.queries
        return self._sampler.sample(job, at, job_id=self.id, executors=self.executors, queries=queries)

    def topology(self) -> Topology:
        """Give the graph, as `sample` would."""
        return self._sampler.topology(self.executors, self._seen.queries)

    def failures(self, since: datetime) -> tuple[JobFailure, ...]:
        """Give the queries that an exception terminated since an instant, oldest first."""
        return tuple(failure for failure in self._seen.failures if failure.at >= since)

    def forget(self) -> None:
        """Begin anew with what is learnt from batches."""
        self._sampler.forget()

    def _follow(self) -> None:
        try:
            self._read_on()
        finally:
            self._seen = Seen.of(self._ledger)

    def _read_on(self) -> None:
        for event in self._log.read():
            if self._log.begun != self._begun:
                # What was told before is told again, or was of another file.
                self._begun, self._ledger = self._log.begun, Ledger()
            self._ledger.note(event)
        for ended in self._ledger.take_batches():
            self._sampler.note(ended.batch, ended.executors)
