"""Acting on a job: re-validate against the running graph, save the intent, ask the engine, save what it said."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from headgate.control import reports
from headgate.control.intents import accepted, open_intent, refused
from headgate.control.outbox import Outbox
from headgate.control.outcomes import without_change
from headgate.control.reactive.reports import share_held
from headgate.control.redeployment import Redeployment
from headgate.control.rollback.taking_back import relinquished
from headgate.control.rollback.trials import on_trial
from headgate.errors import (
    ConflictError,
    HeadgateError,
    NotFoundError,
    OvertakenError,
    PermanentError,
    RefusedError,
    TransientError,
)
from headgate.model.decision import ConfigChanges, Decision
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState, VersionedState
from headgate.model.topology import Topology
from headgate.ports import EventHandler, JobContext, MetricCollector, ScalingRealizer

_CHANGED = (Reason.CONFIGURATION_CHANGED, "its configuration changes: what it concerns is started anew")
_DEFERRED = (Reason.CONFIGURATION_DEFERRED, "its configuration waits for its next start")
_AS_WANTED = (Reason.BALANCED, "its configuration is as wanted already, or is being changed to that")


class Effects(Protocol):
    """What is done to a job; a replay does nothing in its place."""

    @property
    def redeployment(self) -> Redeployment:
        """What is known of jobs that are rescaled by a redeploy."""

    async def rescale(
        self, ctx: JobContext, sample: JobSample, held: VersionedState, decision: Decision, *, late: timedelta
    ) -> Decision:
        """Carry out a decision, and give it with what came of it."""

    async def hold(self, ctx: JobContext, sample: JobSample, now: datetime) -> bool:
        """Let the engine give a job no more than it runs at; tell whether it need not be tried again."""

    async def request(self, ctx: JobContext, held: VersionedState, now: datetime) -> VersionedState:
        """Ask the engine for what the open intent wants, and give the state with its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actuator:
    """Makes decisions real, one job at a time; these are `Effects`."""

    collector: MetricCollector
    realizer: ScalingRealizer
    outbox: Outbox
    events: EventHandler
    redeployment: Redeployment = field(default_factory=Redeployment)

    async def rescale(
        self, ctx: JobContext, sample: JobSample, held: VersionedState, decision: Decision, *, late: timedelta
    ) -> Decision:
        """
        Carry out a decision, if the job still is what was decided on.

        Args:
            ctx: the job.
            sample: what was decided on.
            held: the job's state.
            decision: what to do.
            late: how long ago the decision's instant is: it was decided when the cycle began, evaluated since then.

        Raises:
            TransientError: the engine or the store did not answer before anything was asked for.
            NotFoundError: the job is gone.
        """
        moved = difference(sample.topology, await self.collector.query_topology(ctx))
        if moved:
            return without_change(decision, Reason.TOPOLOGY_CHANGED, f"not done: {moved} since it was decided")
        redeploy = self.redeployment.of(ctx, sample, held.state, decision)
        if not decision.changes and redeploy is None:
            _, (reason, message) = await self._configure(ctx, held, decision)
            return without_change(decision, reason, message)
        state = open_intent(held.state, decision, sample, ctx.options, late=late, redeploy=redeploy)
        held = await self.outbox.save(ctx.key, held, on_trial(ctx, state, sample, began_at=decision.at + late))
        if redeploy is None:
            held, _ = await self._configure(ctx, held, decision)
        held = await self.request(ctx, held, decision.at)
        return _as_answered(decision, held.state)

    async def _configure(
        self, ctx: JobContext, held: VersionedState, decision: Decision
    ) -> tuple[VersionedState, tuple[Reason, str]]:
        """
        Change the configuration that goes with a rescale; where the engine cannot, it waits for the next start.

        Returns:
            The state, and what became of the configuration, with a sentence.
        """
        if decision.config == ConfigChanges():
            return held, _AS_WANTED
        try:
            await self._confirm(ctx)
            is_taken = await self.realizer.realize_config_overrides(ctx, decision.config)
        except RefusedError as error:
            deferred = held.state.deferred.then(decision.config.overrides, decision.config.removals)
            if deferred == held.state.deferred:
                return held, _DEFERRED
            event = reports.deferred(ctx.key, decision, str(error))
            state = replace(held.state, deferred=deferred, outbox=(*held.state.outbox, event))
            return await self.outbox.save(ctx.key, held, state), _DEFERRED
        except HeadgateError as error:
            self.events.handle(reports.job_error(ctx.key, error, decision.at, ctx.options.scaling_event_interval))
            return held, (Reason.CYCLE_FAILED, f"its configuration could not be changed in this cycle: {error}")
        return held, _CHANGED if is_taken else _AS_WANTED

    async def _confirm(self, ctx: JobContext) -> None:
        """Raise unless the job is still this process's: asked right before each effect."""
        if not await self.outbox.may_act(ctx.key):
            message = f"job {ctx.key} is another process's by now: nothing was asked for"
            raise ConflictError(message)

    async def hold(self, ctx: JobContext, sample: JobSample, now: datetime) -> bool:
        """
        Let the engine give a job no more than it runs at; a failure is an event and nothing else.

        Returns:
            Whether it need not be tried again: the engine was told, or will not do it.
        """
        try:
            if difference(sample.topology, await self.collector.query_topology(ctx)):
                return False
            await self._confirm(ctx)
            if await self.realizer.realize_parallelism_overrides(ctx, sample.topology.parallelism):
                self.events.handle(share_held(sample, now))
        except HeadgateError as error:
            self.events.handle(reports.job_error(ctx.key, error, now, ctx.options.scaling_event_interval))
            return isinstance(error, PermanentError)
        return True

    async def request(self, ctx: JobContext, held: VersionedState, now: datetime) -> VersionedState:
        """
        Ask the engine for what the open intent wants; idempotent.

        Without an answer the intent stays open and is asked for again in the next cycle.
        """
        intent = held.state.intent
        if intent is None:
            return held
        try:
            await self._confirm(ctx)
            sent = await self.realizer.realize_parallelism_overrides(replace(ctx, intent=intent), intent.after)
        except NotFoundError as error:
            if intent.redeploy is None or now < intent.deadline:
                raise
            # Nothing of it is left that could still come back: only people can start this job again.
            return await self.outbox.save(ctx.key, held, refused(ctx.key, held.state, str(error), now, ctx.options))
        except OvertakenError as error:
            return await self.outbox.save(ctx.key, held, relinquished(ctx, held.state, str(error), now))
        except PermanentError as error:
            return await self.outbox.save(ctx.key, held, refused(ctx.key, held.state, str(error), now, ctx.options))
        except TransientError as error:
            self.events.handle(reports.job_error(ctx.key, error, now, ctx.options.scaling_event_interval))
            return held
        return await self.outbox.save(ctx.key, held, accepted(ctx.key, held.state, now, ctx.options, sent=sent))


def _as_answered(decision: Decision, state: JobState) -> Decision:
    """Say in the decision what the engine made of it."""
    if state.intent is None:
        return without_change(decision, Reason.PARALLELISM_REJECTED, f"refused: {state.rejections[-1].why}")
    if state.intent.realized_at is None:
        return replace(decision, message=f"{decision.message}; asked for, not answered yet")
    return decision


def difference(decided_on: Topology, running: Topology) -> str:
    """Name what has changed between two readings of a job's graph; empty when nothing has."""
    if decided_on.fingerprint != running.fingerprint:
        return "the job graph changed"
    if decided_on.parallelism != running.parallelism:
        return f"the parallelism changed ({reports.parallelism_text(running, decided_on.parallelism)})"
    return ""
