"""One application as it is seen from outside: its event log, read on, and what that adds up to."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path

from headgate.engines.spark.application import Executors
from headgate.engines.spark.outside.event_log import EventLog
from headgate.engines.spark.outside.ledger import Ledger
from headgate.engines.spark.sampling import Sampler
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.rollback import JobFailure
from headgate.model.samples import JobSample
from headgate.model.topology import Topology


class WatchedApplication:
    """
    An application under its id. Any number of calls at once: the log is read by one at a time.

    Attributes:
        id: of this start of its driver.
    """

    def __init__(self, application: str, log_dir: Path) -> None:
        """Read nothing yet."""
        self.id = application
        self._log = EventLog(log_dir, application)
        self._ledger = Ledger()
        self._sampler = Sampler()
        self._begun = 0
        self._reading = asyncio.Lock()

    async def follow(self) -> None:
        """
        Take in what was logged since the last time.

        Raises:
            UnreachableError: there is no log, or it cannot be read.
            UnsupportedError: it is compressed.
            NotFoundError: the application has ended, by its own word.
        """
        async with self._reading:
            await asyncio.to_thread(self._follow)
        if self._ledger.over:
            message = f"application {self.id} has ended"
            raise NotFoundError(message)

    @property
    def is_streaming(self) -> bool:
        """Whether a query of it is active."""
        return bool(self._ledger.queries)

    @property
    def executors(self) -> Executors:
        """
        Which executors there are.

        Raises:
            UnreachableError: its log has not begun.
        """
        executors = self._ledger.executors
        if executors is None:
            message = f"the event log of {self.id} does not tell of its start yet"
            raise UnreachableError(message)
        return executors

    def setting(self, key: str, default: str = "") -> str:
        """Give one of its own settings, by Spark's name."""
        return self._ledger.settings.get(key, default)

    def sample(self, job: JobKey, at: datetime) -> JobSample:
        """Give what is known at an instant, by the log as it was followed last."""
        queries = tuple(self._ledger.queries.values())
        return self._sampler.sample(job, at, job_id=self.id, executors=self.executors, queries=queries)

    def topology(self) -> Topology:
        """Give the graph, as `sample` would."""
        return self._sampler.topology(self.executors, tuple(self._ledger.queries.values()))

    def failures(self, since: datetime) -> tuple[JobFailure, ...]:
        """Give the queries that an exception terminated since an instant, oldest first."""
        return tuple(failure for failure in self._ledger.failures if failure.at >= since)

    def forget(self) -> None:
        """Begin anew with what is learnt from batches."""
        self._sampler.forget()

    def _follow(self) -> None:
        for event in self._log.read():
            if self._log.begun != self._begun:
                # What was told before is told again, or was of another file.
                self._begun, self._ledger = self._log.begun, Ledger()
            self._ledger.note(event)
        for ended in self._ledger.take_batches():
            self._sampler.note(ended.batch, ended.executors)
