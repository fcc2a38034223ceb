"""
The way of one redeploy, step by step: each step looks at the cluster and does what is due there.

So it can be left and taken up again anywhere, by another process too: which step is due follows from the job ids alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob
from headgate.engines.flink.redeploy import stopping
from headgate.engines.flink.redeploy.answers import Stop
from headgate.engines.flink.redeploy.origins import origin_of
from headgate.engines.flink.redeploy.pace import InVain
from headgate.engines.flink.redeploy.past import failure, has_run, was_late
from headgate.engines.flink.redeploy.sight import UP, Sight, goes_on, look
from headgate.engines.flink.redeploy.starting import bound, check_program, start_job
from headgate.errors import HeadgateError, NotFoundError, RefusedError, TransientError, UnreachableError
from headgate.model.measures import JobStatus
from headgate.model.redeploy import Launch, Redeploy, Start, way_back_of
from headgate.model.state import Intent
from headgate.options.units import format_duration

_log = structlog.get_logger(__name__)

ATTEMPTS = 3
"""How often the program is asked for its plan where Flink answers with an error of its own: it may be the program's."""


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
    _location: str | None = None
    """Of the savepoint: Flink forgets the job that it ended; or of what a cancelled one goes on from."""
    _seen_alive: bool = False
    """Whether this process has seen the job before it ended."""
    _failed: int = 0
    """How often there was no answer to what would be built."""
    _unanswered: dict[str, tuple[InVain, UnreachableError]] = field(default_factory=dict)
    """Starts by job id."""
    _refused: InVain = field(default_factory=InVain)
    """Ways back of which no job came about."""
    _next: int = 0
    """The number of the first way back that was not refused."""
    _cancelled: set[str] = field(default_factory=set)
    _bounded: set[str] = field(default_factory=set)

    async def advance(self) -> bool:
        """
        Do what is due, without waiting for its effect.

        Returns:
            Whether the successor runs.

        Raises:
            RefusedError: there will be no successor; the text says why, and what runs instead.
            NotFoundError: the cluster knows none of the jobs.
            TransientError: no usable answer, or the job is down for now; call again.
        """
        sight = await look(self.client, self.intent, self.name)
        if sight.surplus:
            for job_id in sight.surplus:
                await self._cancel(job_id)
            return False
        if sight.successor is not None:
            return await self._attend(sight.successor, sight)
        if sight.back or self._why_not:
            await self._go_back(sight, self._why_not or "its start has failed")
        elif sight.old is None and self._location is None:
            message = f"job {self.intent.job_id} is gone, and with it what told of its savepoint"
            raise NotFoundError(message)
        elif sight.old is None or sight.old.status.is_over:
            await self._replace(sight)
        else:
            await self._stop(sight.old, sight.strangers)
        return False

    async def _stop(self, old: ListedJob, strangers: tuple[str, ...]) -> None:
        """Ask for the savepoint that ends the job, or see what has become of it."""
        if old.status is JobStatus.OTHER:
            return  # it is being cancelled, by whomever
        self._seen_alive = True
        known = await stopping.progress(self.client, self.intent)
        if known is not None and not self._is_in_vain(old, known):
            return
        if known is not None and self.intent.takes_back is None:
            message = f"the savepoint failed, and the job goes on: {known.failure}"
            raise RefusedError(message)
        if strangers or old.name != self.name:
            message = f"several jobs are called {old.name!r}, and the new one could be taken for another of them"
            raise RefusedError(message)
        await self._begin()
        if self._is_in_vain(old, known):
            await self._cancel_sick(old)
        else:
            await stopping.stop(self.client, self.intent, self.launch.savepoint_directory)

    def _is_in_vain(self, old: ListedJob, known: Stop | None) -> bool:
        """Tell whether there will be no savepoint; that of a sick job is not waited for at any cost."""
        if known is None:
            return self.intent.takes_back is not None and old.status is not JobStatus.RUNNING
        if known.failure is not None:
            return True
        late = self.clock() - self.intent.decided_at >= self.launch.savepoint_limit
        return self.intent.takes_back is not None and late

    async def _cancel_sick(self, old: ListedJob) -> None:
        """End a job that fails over again and again; without something to go on from it is left alone."""
        origin = await origin_of(self.client, old)
        _log.warning("sick job cancelled", job=self.name, job_id=old.job_id, goes_on_from=str(origin))
        await self._cancel(old.job_id)

    async def _begin(self) -> None:
        self._refuse_to_begin()
        vertices = frozenset(self.intent.before)
        await self._checked(check_program(self.client, self.launch, self.redeploy.after, vertices))
        self._refuse_to_begin()  # that may have taken a minute

    def _refuse_to_begin(self) -> None:
        if self.may_begin:
            return
        if self.intent.takes_back:
            message = "the job is sick, and nothing may be changed for now: its rollback waits"
            raise TransientError(message)
        message = "it had not begun, and nothing may be changed any more"
        raise RefusedError(message)

    async def _replace(self, sight: Sight) -> None:
        savepoint = await self._savepoint(sight)
        _refuse_beside(sight, savepoint)
        try:
            await self._start(self.redeploy.successor, self.redeploy.after, savepoint)
        except RefusedError as error:
            # There may be one already, or one that failed at once: a job of that id tells more than this answer.
            seen = await look(self.client, self.intent, self.name)
            self._why_not = "" if seen.successor else str(error)

    async def _attend(self, successor: ListedJob, sight: Sight) -> bool:
        """Follow the successor until it runs, or until it has failed and the job runs again as it was."""
        if goes_on(successor):
            await self._bound_once(successor.job_id, self.redeploy.after)
            await self._cancel_if_late(successor)
            return successor.status in UP
        if not sight.back:
            await self._refuse_what_ran(successor)
        if successor.status is JobStatus.CANCELED:
            why = f"its tasks did not all run within {format_duration(self.launch.start_limit)}"
        else:
            why = await failure(self.client, successor)
        await self._go_back(sight, why)
        return False

    async def _refuse_what_ran(self, job: ListedJob) -> None:
        """Leave alone what has ended by itself or by its owner: going back would undo what it did."""
        if job.job_id in self._cancelled:
            return
        if job.status is JobStatus.CANCELED and not was_late(job, self.launch.start_limit):
            message = f"what was started, {job.job_id}, was cancelled by somebody else"
            raise RefusedError(message)
        if await has_run(self.client, job, self.launch.start_limit):
            why = await failure(self.client, job)
            message = f"{job.job_id} was started and ran, and ended later; it is not taken back to before that: {why}"
            raise RefusedError(message)

    async def _go_back(self, sight: Sight, why: str) -> None:
        """Start the job again as it was, and refuse the change once it runs."""
        job = sight.way_back
        if job is None:
            await self._start_back(sight, why)
        elif job.status in UP:
            message = f"the job could not be started so, and was taken back to how it ran before: {why}"
            raise RefusedError(message)
        else:
            await self._bound_once(job.job_id, self.redeploy.before)
            await self._cancel_if_late(job)

    async def _start_back(self, sight: Sight, why: str) -> None:
        """Try the next way back when its time has come; a job that is down is never given up."""
        savepoint = await self._savepoint(sight)
        _refuse_beside(sight, savepoint)
        if sight.back:
            await self._refuse_what_ran(sight.back[max(sight.back)])
        if self._in_vain(sight).is_too_soon(self.clock()):
            message = (
                "THE JOB IS DOWN: it started neither so nor as it was before, and is tried again and again. "
                f"Its savepoint is {savepoint}: {why}"
            )
            raise TransientError(message)
        number = max(self._next, *(tried + 1 for tried in sight.back), 0)
        try:
            await self._start(way_back_of(self.intent.job_id, number), self.redeploy.before, savepoint)
        except RefusedError:
            seen = await look(self.client, self.intent, self.name)
            if number not in seen.back:
                self._refused, self._next = self._refused.once_more(self.clock()), number + 1

    def _in_vain(self, sight: Sight) -> InVain:
        """Count the ways back: those that the cluster lists, and those of which only this process knows."""
        instants = [_instant(job.started_at_ms) for job in sight.back.values()]
        latest = max([*instants, *([self._refused.at] if self._refused.at else [])], default=None)
        return InVain(attempts=len(instants) + self._refused.attempts, at=latest)

    async def _savepoint(self, sight: Sight) -> str:
        if self._location is None:
            self._location = await self._found(sight.old)
        return self._location

    async def _found(self, old: ListedJob | None) -> str:
        if self.intent.takes_back is None or old is None or old.status is JobStatus.FINISHED:
            return await stopping.savepoint(self.client, self.intent, old)
        if old.status is JobStatus.CANCELED and not self._has_cancelled(old):
            message = f"{old.job_id} was cancelled by somebody else"
            raise RefusedError(message)
        return (await origin_of(self.client, old)).path

    def _has_cancelled(self, old: ListedJob) -> bool:
        """Tell whether Headgate has cancelled a job: this process, or one before it since the rollback was decided."""
        since = _instant(old.ended_at_ms or 0) >= self.intent.decided_at - stopping.SKEW
        return old.job_id in self._cancelled or (since and not self._seen_alive)

    async def _start(self, job_id: str, start: Start, savepoint: str) -> None:
        """
        Start a job, or once more what was not answered: Flink may be at it still, and starts no second one of an id.

        Raises:
            RefusedError: Flink will not.
            UnreachableError: no answer, or not lately.
        """
        tries, error = self._unanswered.get(job_id, (InVain(), None))
        if error is not None and tries.is_too_soon(self.clock()):
            raise error
        try:
            await start_job(self.client, self.launch, start, job_id=job_id, savepoint=savepoint)
        except UnreachableError as failed:
            self._unanswered[job_id] = tries.once_more(self.clock()), failed
            raise
        except NotFoundError as gone:
            raise RefusedError(str(gone)) from gone

    async def _bound_once(self, job_id: str, start: Start) -> None:
        if job_id not in self._bounded:
            with suppress(HeadgateError):  # it may only just have begun: the next look tries again
                await bound(self.client, job_id, start.vertices)
                self._bounded.add(job_id)

    async def _checked(self, checking: Awaitable[None]) -> None:
        """
        Let Flink's own errors count as a refusal when they come again and again: the job still runs.

        Raises:
            RefusedError: it was refused, or there was no answer for the last time.
            UnreachableError: no answer; try again.
        """
        try:
            await checking
        except UnreachableError as error:
            self._failed += 1
            if self._failed < ATTEMPTS:
                raise
            raise RefusedError(str(error)) from error

    async def _cancel_if_late(self, job: ListedJob) -> None:
        late = self.clock() - _instant(job.started_at_ms) >= self.launch.start_limit
        if job.status not in UP and late:
            await self._cancel(job.job_id)

    async def _cancel(self, job_id: str) -> None:
        self._cancelled.add(job_id)
        with suppress(NotFoundError, RefusedError):  # it has ended meanwhile
            await self.client.patch(f"/jobs/{job_id}?mode=cancel")


def _refuse_beside(sight: Sight, savepoint: str) -> None:
    if sight.strangers:
        others = ", ".join(sight.strangers)
        message = f"another job of this name runs already: {others}; the savepoint of the one before is {savepoint}"
        raise RefusedError(message)


def _instant(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
