"""
The way of one redeploy, step by step: each step looks at the cluster and does what is due there.

So it can be left and taken up again anywhere, by another process too: which step is due follows from the job ids alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob
from headgate.engines.flink.redeploy import stopping
from headgate.engines.flink.redeploy.answers import read_failure
from headgate.engines.flink.redeploy.sight import Sight, look
from headgate.engines.flink.redeploy.starting import bound, check_program, start_job
from headgate.errors import HeadgateError, NotFoundError, RefusedError, UnreachableError
from headgate.model.redeploy import Launch, Redeploy, Start
from headgate.model.samples import JobStatus
from headgate.model.state import Intent

T = TypeVar("T")

ATTEMPTS = 3
"""How often a request is sent that Flink answers with an error of its own, which may be the program's."""
_UP = frozenset({JobStatus.RUNNING, JobStatus.FINISHED})


@dataclass(slots=True, kw_only=True)
class Course:
    """
    One redeploy of one job.

    Attributes:
        name: the job's, as the cluster lists it.
        may_begin: whether the job may be stopped; what was stopped is started in any case.
    """

    client: FlinkClient
    name: str
    intent: Intent
    redeploy: Redeploy
    launch: Launch
    may_begin: bool
    clock: Callable[[], datetime]
    _why_not: str = ""
    """Why the successor could not be started, where no job of that id tells."""
    _failed: Counter[str] = field(default_factory=Counter)
    _bounded: set[str] = field(default_factory=set)

    async def advance(self) -> bool:
        """
        Do what is due, without waiting for its effect.

        Returns:
            Whether the successor runs.

        Raises:
            RefusedError: there will be no successor; the text says why, and what runs instead.
            NotFoundError: the cluster knows none of the jobs.
            TransientError: no usable answer; call again.
        """
        sight = await look(self.client, self.intent, self.name)
        if sight.successor is not None:
            return await self._attend(sight.successor, sight)
        if sight.back or self._why_not:
            await self._go_back(sight, self._why_not)
        elif sight.old is None:
            message = f"job {self.intent.job_id} is gone, and with it what told of its savepoint"
            raise NotFoundError(message)
        elif sight.old.status.is_over:
            await self._replace(sight)
        else:
            await self._stop(sight.old, sight.strangers)
        return False

    async def _stop(self, old: ListedJob, strangers: tuple[str, ...]) -> None:
        """Ask for the savepoint that ends the job, or see what has become of it."""
        known = await stopping.progress(self.client, self.intent)
        if known is None:
            if strangers or old.name != self.name:
                message = f"several jobs are called {old.name!r}, and the new one could be taken for another of them"
                raise RefusedError(message)
            await self._begin()
        elif known.failure is not None:
            message = f"the savepoint failed, and the job goes on: {known.failure}"
            raise RefusedError(message)

    async def _begin(self) -> None:
        if not self.may_begin:
            message = "it had not begun, and nothing may be changed any more"
            raise RefusedError(message)
        vertices = frozenset(self.intent.before)
        await self._tried("check", check_program(self.client, self.launch, self.redeploy.after, vertices))
        await stopping.stop(self.client, self.intent, self.launch.savepoint_directory)

    async def _replace(self, sight: Sight) -> None:
        savepoint = await stopping.savepoint(self.client, self.intent, sight.old)
        if sight.strangers:
            others = ", ".join(sight.strangers)
            message = f"another job of this name runs already: {others}; the savepoint of the one before is {savepoint}"
            raise RefusedError(message)
        try:
            await self._start(self.redeploy.successor, self.redeploy.after, savepoint)
        except RefusedError as error:
            # There may be one already, or one that failed at once: a job of that id tells more than this answer.
            seen = await look(self.client, self.intent, self.name)
            self._why_not = "" if seen.successor else str(error)

    async def _attend(self, successor: ListedJob, sight: Sight) -> bool:
        """Follow the successor until it runs, or until it has failed and the job runs again as it was."""
        if not successor.status.is_over or successor.status in _UP:
            await self._bound_once(successor.job_id, self.redeploy.after)
            await self._cancel_if_late(successor)
            return successor.status in _UP
        by_us = successor.status is JobStatus.CANCELED and (sight.back or self._is_late(successor))
        if successor.status is JobStatus.CANCELED and not by_us:
            message = f"its successor {successor.job_id} was cancelled by somebody else"
            raise RefusedError(message)
        why = f"its tasks did not all run within {self.launch.start_limit}" if by_us else await self._failure(successor)
        await self._go_back(sight, why)
        return False

    async def _go_back(self, sight: Sight, why: str) -> None:
        """Start the job again as it was, and refuse the change once it runs."""
        savepoint = await stopping.savepoint(self.client, self.intent, sight.old)
        for job_id in self.redeploy.ways_back:
            job = sight.back.get(job_id)
            if job is None:
                with suppress(RefusedError):
                    return await self._start(job_id, self.redeploy.before, savepoint)
            elif job.status in _UP:
                message = f"the job could not be started so, and was taken back to how it ran before: {why}"
                raise RefusedError(message)
            elif not job.status.is_over:
                await self._bound_once(job_id, self.redeploy.before)
                return await self._cancel_if_late(job)
        message = f"THE JOB IS DOWN, it started neither so nor as it was before. Its savepoint is {savepoint}: {why}"
        raise RefusedError(message)

    async def _start(self, job_id: str, start: Start, savepoint: str) -> None:
        starting = start_job(self.client, self.launch, start, job_id=job_id, savepoint=savepoint)
        await self._tried(job_id, starting)

    async def _bound_once(self, job_id: str, start: Start) -> None:
        if job_id not in self._bounded:
            with suppress(HeadgateError):  # it may only just have begun: the next look tries again
                await bound(self.client, job_id, start.vertices)
                self._bounded.add(job_id)

    async def _tried(self, what: str, doing: Awaitable[T]) -> T:
        """
        Let Flink's own errors count as a refusal when they come again and again.

        Raises:
            RefusedError: it was refused, or there was no answer for the last time.
            UnreachableError: no answer; try again.
        """
        try:
            return await doing
        except UnreachableError as error:
            self._failed[what] += 1
            if self._failed[what] < ATTEMPTS:
                raise
            raise RefusedError(str(error)) from error

    async def _cancel_if_late(self, job: ListedJob) -> None:
        if job.status not in _UP and self._is_late(job):
            await self.client.patch(f"/jobs/{job.job_id}?mode=cancel")

    def _is_late(self, job: ListedJob) -> bool:
        return self.clock() - datetime.fromtimestamp(job.started_at_ms / 1000, UTC) >= self.launch.start_limit

    async def _failure(self, job: ListedJob) -> str:
        with suppress(HeadgateError):
            return await self.client.get(f"/jobs/{job.job_id}/exceptions", read_failure)
        return f"it is {job.status}"
