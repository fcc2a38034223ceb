"""One restart of a query from its checkpoint with other settings, and back to the old ones if those do not work."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from headgate.engines.spark.attached.checkpoint import UnrestoredError
from headgate.engines.spark.attached.start_settings import QueryFactory, StartSettings
from headgate.errors import HeadgateError, RefusedError

FAR_OFF = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """What became of a restart."""

    query: str
    before: StartSettings
    wanted: StartSettings
    failure: str = ""
    """Why it does not run as wanted; empty when it does."""
    runs: bool = True
    """False: it could not be started with the old settings either, or did not end; the application must see to it."""
    by_itself: bool = False
    """Whether somebody else ended it, or it failed, other than by these settings: nothing was started then."""
    exception: BaseException | None = None
    """What it failed with by itself."""
    stuck: Any = None
    """The query that was told to stop and has not: nothing may be started before it has; `Restart.free` tries."""

    @property
    def settings(self) -> StartSettings:
        """How the query runs now, or ran last."""
        return self.before if self.failure else self.wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a restart waits, and how."""

    batch: timedelta = timedelta(minutes=2)
    """For the batch under way to end; then it is broken off, and Spark does it again after the start."""
    trial: timedelta = timedelta(minutes=2)
    """For the first batch after the start; a query without data counts as well when it lives that long."""
    poll: timedelta = timedelta(milliseconds=100)
    clock: Callable[[], float] = time.monotonic
    """In seconds."""
    pause: Callable[[float], None] = time.sleep

    def until(self, reached: Callable[[], bool], limit: timedelta) -> bool:
        """Wait for something; tell whether it came in time."""
        end = self.clock() + limit.total_seconds()
        while not reached():
            if self.clock() >= end:
                return False
            self.pause(self.poll.total_seconds())
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """
    A restart that is to be made. It blocks, so it is made on a thread.

    Nothing is lost wherever it breaks off: offsets and state are in the checkpoint, a batch that was not committed is
    done again from the same offsets, and a process that dies in between starts with the application's own code.
    """

    name: str
    query: Any
    """The `StreamingQuery` that runs."""
    factory: QueryFactory
    before: StartSettings
    wanted: StartSettings
    between: Callable[[], None] | None = None
    """What is done to the checkpoint while no query uses it; it leaves the checkpoint as it was when it raises."""
    patience: Patience = Patience()

    def make(self) -> Restarted:
        """Stop the query, start it as wanted, and go back to the old settings if it fails within its first batch."""
        self._await_batch_end()
        try:
            _confirm_own(self.query)
            _stop(self.query)
            return self._start(self._prepare())
        except _StuckError as error:
            if error.query is self.query and self.query.isActive:
                return self._outcome(str(error), runs=True)
            return self._outcome(str(error), runs=False, stuck=error.query)
        except UnrestoredError as error:
            return self._outcome(str(error), runs=False)
        except _EndedError as error:
            return self._outcome(str(error), runs=False, by_itself=True, exception=error.__cause__)

    def is_freed(self, before: Restarted) -> bool:
        """Try again to stop what has not stopped."""
        try:
            _stop(before.stuck)
        except _StuckError:
            return False
        return True

    def free(self, before: Restarted) -> Restarted:
        """Try again to stop what has not stopped; when it has, start the query with its old settings."""
        try:
            _stop(before.stuck)
            return self._start(before.failure)
        except _StuckError:
            return before
        except _EndedError as error:
            return self._outcome(str(error), runs=False, by_itself=True, exception=error.__cause__)

    def _start(self, failure: str) -> Restarted:
        """Start it as wanted, or after a failure as before."""
        failure = failure or self._begin(self.wanted)
        worse = self._begin(self.before) if failure else ""
        return self._outcome("; then ".join(filter(None, (failure, worse))), runs=not worse)

    def _await_batch_end(self) -> None:
        """A batch that is not broken off need not be done twice."""
        first = _batch(self.query)
        self.patience.until(
            lambda: not self.query.isActive or _waits(self.query) or _batch(self.query) != first, self.patience.batch
        )

    def _prepare(self) -> str:
        """
        Do what is to be done in between, and say what went wrong; empty when nothing did.

        Raises:
            UnrestoredError: the checkpoint is not as it was.
        """
        try:
            if self.between is not None:
                self._end_batches()
                self.between()
        except UnrestoredError:
            raise
        except HeadgateError as error:
            return str(error)
        return ""

    def _end_batches(self) -> None:
        """
        Leave no batch half done: with the next trigger far off, the one that was broken off is the last for now.

        Raises:
            RefusedError: that did not come about.
        """
        quiet = replace(self.before, trigger_interval=FAR_OFF)
        try:
            query = self.factory(quiet)
        except Exception as error:
            message = f"its factory failed with {quiet.text}: {_reason(error)}"
            raise RefusedError(message) from error
        waited = self.patience.until(lambda: not query.isActive or _waits(query), self.patience.trial)
        if query.exception() is None:
            _confirm_own(query)
        try:
            _stop(query)
        except _StuckError as error:
            message = f"{error}, and has been started with {quiet.text} to end its batches"
            raise _StuckError(message, query) from error
        if query.exception() is not None or not waited:
            message = f"it came to no rest with {quiet.text}"
            raise RefusedError(message)

    def _begin(self, settings: StartSettings) -> str:
        """Start it, and say what went wrong; empty when nothing did."""
        try:
            query = self.factory(settings)
        except Exception as error:  # noqa: BLE001 - the application's own code
            return f"its factory failed with {settings.text}: {_reason(error)}"
        self.patience.until(lambda: not query.isActive or _batch(query) is not None, self.patience.trial)
        if query.isActive:
            return ""
        if query.exception() is None:
            _confirm_own(query)
        return f"it failed with {settings.text}: {_reason(query.exception())}"

    def _outcome(self, failure: str, *, runs: bool, **more: Any) -> Restarted:
        return Restarted(query=self.name, before=self.before, wanted=self.wanted, failure=failure, runs=runs, **more)


class _StuckError(Exception):
    """A query still runs that must not."""

    def __init__(self, message: str, query: Any) -> None:
        super().__init__(message)
        self.query = query


class _EndedError(Exception):
    """A query has ended without Headgate: whoever looks after it may start it again, and nobody else."""


def _stop(query: Any) -> None:
    try:
        query.stop()
    except Exception as error:
        # A stop that takes too long leaves a query that is not active, and yet may write.
        message = f"it could not be stopped: {_reason(error)}"
        raise _StuckError(message, query) from error
    if query.isActive:
        message = "it did not stop"
        raise _StuckError(message, query)


def _confirm_own(query: Any) -> None:
    """
    Raise unless the query is still there for Headgate to stop.

    Raises:
        _EndedError: it was stopped, or has failed; the cause is what with.
    """
    if not query.isActive:
        failure = query.exception()
        message = f"it ended by itself: {_reason(failure)}" if failure else "it was stopped by somebody else"
        raise _EndedError(message) from failure


def _waits(query: Any) -> bool:
    """Tell whether it is between two batches."""
    return not query.status["isTriggerActive"] and str(query.status["message"]).startswith("Waiting")


def _batch(query: Any) -> int | None:
    progress = query.lastProgress
    return None if progress is None else int(progress["batchId"])


def _reason(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
