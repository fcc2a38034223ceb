"""Changes a job's parallelism and configuration together, by a savepoint and a job that takes the old one's place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.redeploy.course import Course
from headgate.engines.flink.redeploy.drive import Drive
from headgate.errors import RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import JobKey, VertexId
from headgate.ports import JobContext

POLL = timedelta(milliseconds=200)
"""How often a redeploy under way is looked at, at first."""
StillOurs = Callable[[JobKey], Awaitable[bool]]
"""Tells whether a job is still this process's."""


async def always(_: JobKey) -> bool:
    """Say yes: there is no other process."""
    return True


class SavepointRedeployRealizer:
    """
    Stops the job with a savepoint and starts another from it. Implements `headgate.ports.ScalingRealizer`.

    What is under way goes on by itself between the calls, so that the job stands still no longer than it must; each
    call tells how it went. After a restart of Headgate the next call takes it up from what the cluster shows.
    """

    def __init__(
        self,
        clients: Mapping[str, FlinkClient],
        *,
        poll: timedelta = POLL,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        still_ours: StillOurs = always,
    ) -> None:
        """
        Ask nothing yet.

        Args:
            clients: the clusters by name; whoever made them closes them, after this.
            poll: how often a redeploy under way is looked at, at first.
            clock: tells when a start has taken too long.
            still_ours: asked before every step; a job that is another process's is left to that.
        """
        self._clients = clients
        self._clock = clock
        self._still_ours = still_ours
        self._poll = poll
        self._drives: dict[JobKey, Drive] = {}

    async def realize_parallelism_overrides(self, ctx: JobContext, _overrides: Mapping[VertexId, int], /) -> bool:
        """
        Take up the redeploy of the context's intent, or tell how it goes: True when this call has taken it up.

        A job that may not be scaled (any more) is not stopped; one that was stopped is started all the same.

        Raises:
            RefusedError: it will not be done, for want of a launch spec or because it failed; the text tells what runs.
            NotFoundError: the cluster knows neither the job nor what took its place.
            TransientError: the cluster does not answer.
        """
        course = self._course(ctx)
        drive = self._drives.get(ctx.key)
        if drive is None or drive.decision_id != course.intent.decision_id:
            await self._let_go(ctx.key)
            self._drives[ctx.key] = Drive(course, partial(self._still_ours, ctx.key), poll=self._poll)
            return True
        drive.allow(may_begin=course.may_begin)
        if drive.is_over:
            del self._drives[ctx.key]
        drive.tell()
        return False

    async def realize_config_overrides(self, _ctx: JobContext, _changes: ConfigChanges, /) -> bool:
        """Do nothing by itself: the configuration is part of the intent, and goes with the parallelism."""
        return True

    async def close(self) -> None:
        """Let go of what is under way; the cluster shows the next process how far it has come."""
        for job in tuple(self._drives):
            await self._let_go(job)

    async def _let_go(self, job: JobKey) -> None:
        drive = self._drives.pop(job, None)
        if drive is not None:
            await drive.close()

    def _client(self, job: JobKey) -> FlinkClient:
        if job.cluster not in self._clients:
            message = (
                f"{job} cannot be redeployed: {job.cluster} is not one of Headgate's `clusters`, and only those have "
                "what a redeploy needs: a REST interface that outlives the job, and takes jars"
            )
            raise RefusedError(message)
        return self._clients[job.cluster]

    def _course(self, ctx: JobContext) -> Course:
        intent = ctx.intent
        if intent is None or intent.redeploy is None:
            message = f"{ctx.key} cannot be redeployed: nobody has saved with what"
            raise RefusedError(message)
        if intent.redeploy.launch is None:
            message = (
                f"{ctx.key} cannot be redeployed: it has no launch spec, and Flink does not tell what a job was "
                "submitted with. Hint: write `launch.jar`, and where needed launch.entry-class, launch.args and "
                "launch.configuration, into its entry of `jobs`, or start it by `headgate submit`"
            )
            raise RefusedError(message)
        return Course(
            client=self._client(ctx.key),
            name=ctx.key.name,
            intent=intent,
            redeploy=intent.redeploy,
            launch=intent.redeploy.launch,
            clock=self._clock,
            may_begin=ctx.options.enabled and ctx.options.scaling_enabled,
        )
