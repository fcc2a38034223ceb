"""Carrying out what was decided for one job, as far as it can and may be: workers first, then the effect or advice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headgate.algorithm.permission import excluded_period
from headgate.algorithm.resources import Rescale, RoomQuestion, room_question
from headgate.control import reports
from headgate.control.actuation import Effects
from headgate.control.intents import rejection_of
from headgate.control.observation import Observation
from headgate.control.outcomes import without_change
from headgate.control.pausing import paused
from headgate.control.reactive.awaiting import await_workers
from headgate.control.reactive.sharing import is_reactive
from headgate.control.reactive.steering import Steering
from headgate.model.decision import ADVISORY, Decision, Outcome
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import VersionedState
from headgate.options.live import Live, in_force
from headgate.options.service import Mode
from headgate.ports import EventHandler, JobContext

RoomCheck = Callable[[RoomQuestion], bool]
"""The reference's `ResourceCheck`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """From a decision to what came of it; it holds its ports and nothing of any job."""

    mode: Live[Mode]
    actuator: Effects
    events: EventHandler
    steering: Steering | None
    has_room: RoomCheck

    async def carry_out(
        self, seen: Observation, sample: JobSample, held: VersionedState, decision: Decision, late: timedelta
    ) -> Decision:
        """Carry out what was decided, as far as it can and may be."""
        ctx, now = seen.ctx, decision.at
        if ctx.orders.pause is not None:
            if self.steering:
                self.steering.ledger.release(ctx.key)
            return paused(decision, ctx.orders.pause)
        decision = self.actuator.redeployment.planned(ctx, sample, held.state, decision)
        decision = self._after_workers(ctx, sample, decision)
        if decision.outcome is not Outcome.RESCALE:
            if sample.settings.adaptive and not self._replaces(ctx):
                await self._hold(ctx, sample, now)
            return decision
        made = await self._make(seen, sample, held, decision, late)
        if self.steering and not made.acts:
            self.steering.ledger.release(ctx.key)
        return made

    async def _make(
        self, seen: Observation, sample: JobSample, held: VersionedState, decision: Decision, late: timedelta
    ) -> Decision:
        """Put a rescale into effect, or say why not."""
        if refused := self._refused(sample, held, decision):
            return refused
        ctx = seen.ctx
        can_change = sample.settings.adaptive or self._replaces(ctx)
        if decision.reason in ADVISORY or not self.may_act(ctx) or not can_change:
            return self._advise(decision, seen, can_change=can_change)
        decision = replace(decision, acts=True, reason=Reason.RESCALED)
        return await self.actuator.rescale(ctx, sample, held, decision, late=late)

    def _after_workers(self, ctx: JobContext, sample: JobSample, decision: Decision) -> Decision:
        """Let what would be made wait for its workers; a reactive job was only offered what there is."""
        if self.steering is None:
            return decision
        if is_reactive(ctx.options) or decision.reason in ADVISORY or not self.may_act(ctx):
            self.steering.ledger.release(ctx.key)
            return decision
        replaces = self.actuator.redeployment.applies(ctx)
        return await_workers(self.steering.ledger, sample, decision, replaces=replaces)

    async def _hold(self, ctx: JobContext, sample: JobSample, now: datetime) -> None:
        """Let the engine give a reactive job that stays as it is nothing that is another one's."""
        ledger = self.steering.ledger if self.steering else None
        hold = ledger.due(ctx.key) if ledger else None
        may_act = self.may_act(ctx) and excluded_period(ctx.options, now) is None
        if ledger and hold and may_act and await self.actuator.hold(ctx, sample, now):
            ledger.held[ctx.key] = hold

    def _refused(self, sample: JobSample, held: VersionedState, decision: Decision) -> Decision | None:
        """Keep the job where the same was in vain lately, or where the cluster says beforehand that it will be."""
        rejection = rejection_of(held.state, decision, decision.at)
        if rejection:
            return without_change(decision, Reason.PARALLELISM_REJECTED, f"{rejection.why}, remembered")
        if decision.evaluated is None:
            return None
        rescale = Rescale.of(sample.topology, decision.proposals)
        question = room_question(rescale, decision.evaluated, sample.settings)
        if question is None or self.has_room(question):
            return None
        return without_change(decision, Reason.NO_ROOM, f"the cluster has no room for it: {decision.message}")

    def _replaces(self, ctx: JobContext) -> bool:
        return self.actuator.redeployment.applies(ctx) or ctx.options.has_own_realizer

    def may_act(self, ctx: JobContext) -> bool:
        """Tell whether anything may be changed of a job."""
        return ctx.orders.pause is None and self.may_obey(ctx)

    def may_obey(self, ctx: JobContext) -> bool:
        """Tell whether anything may be changed of a job where somebody orders just that: a pause does not count."""
        return in_force(self.mode) is Mode.ACT and ctx.options.enabled and ctx.options.scaling_enabled

    def _advise(self, decision: Decision, seen: Observation, *, can_change: bool) -> Decision:
        limit = "" if can_change else "; advice only: the job's scheduler does not rescale in place"
        reason = decision.reason if decision.reason in ADVISORY else Reason.ADVICE
        advice = replace(decision, reason=reason, message=decision.message + limit)
        self.events.handle(reports.scaling_report(advice, seen.ctx.options.scaling_event_interval))
        return advice
