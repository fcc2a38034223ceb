"""
One job's share of a cycle: what made it sick is taken back, what is open is followed, then it is decided for.

Each step saves what it changes before the next one begins, so that a process may die between any two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from headgate.algorithm.agreement import at_risk
from headgate.algorithm.decide import not_ready
from headgate.algorithm.outlook import reckoned
from headgate.algorithm.permission import excluded_period
from headgate.control import reports
from headgate.control.deciding import Decider
from headgate.control.execution import Execution
from headgate.control.intents import settle
from headgate.control.observation import Observation
from headgate.control.outbox import Outbox
from headgate.control.outcomes import in_flight, unevaluated
from headgate.control.pausing import told_of_pause
from headgate.control.redeployment import may_begin, settle_redeploy
from headgate.control.rollback.judging import judge, pause
from headgate.control.rollback.ordering import Surroundings, must_wait, taken_up
from headgate.control.rollback.step import RollbackStep
from headgate.control.rollback.taking_back import settle_rollback
from headgate.control.threads import in_threads
from headgate.control.wishes import is_news
from headgate.model.decision import Decision
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample
from headgate.model.state import Intent, JobState, VersionedState
from headgate.ports import EventHandler, JobContext

Answer = EvaluatedMetrics | NotReady

_EVER = datetime(1971, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Care:
    """What is done for one job in a cycle; it holds its ports and nothing of any job."""

    decider: Decider
    execution: Execution
    rollback: RollbackStep
    outbox: Outbox
    events: EventHandler

    async def decide(
        self, seen: Observation, held: VersionedState, answer: Answer, now: datetime, late: timedelta
    ) -> Decision:
        """
        Decide for a job, and carry it out where that is allowed.

        Args:
            seen: the job as it was observed.
            held: its state.
            answer: its evaluation.
            now: when the cycle began.
            late: how long ago that was when the evaluation was there.

        Raises:
            HeadgateError: the engine or the store did not answer, or the job is gone.
        """
        ctx, sample = seen.ctx, seen.sample
        held = await self._obey(seen, held, now)
        held, sick = await self._examine(seen, held, answer, now)
        held, obstacle = await self._follow(seen, held, now)
        if obstacle is None:
            held, obstacle = await self._settle(seen, held, now)
        obstacle = sick or obstacle
        if sample is None or obstacle is not None:
            return not_ready(ctx.key, obstacle or seen.problem or unevaluated(seen), now, sample)
        known = _of_this_job(held.state, seen)
        decision = await self.decider.decide(ctx, sample, answer, now, known)
        held = await self._remember(ctx, held, decision)
        decision = await self.execution.carry_out(seen, sample, held, decision, late)
        return self._foretell(ctx, sample, known, decision)

    def _foretell(self, ctx: JobContext, sample: JobSample, state: JobState, decision: Decision) -> Decision:
        """Say what becomes of the job by what came of its decision at last, and tell of a broken agreement."""
        decision = reckoned(decision, sample.topology, ctx.options, state)
        if decision.forecast is not None and decision.forecast.breaks:
            notice = at_risk(decision.forecast)
            self.events.handle(reports.noticed(notice, decision, ctx.options.scaling_event_interval))
        return decision

    async def _obey(self, seen: Observation, held: VersionedState, now: datetime) -> VersionedState:
        """Tell of a pause; take up an order to take the last rescale back, or say why not, and strike it either way."""
        ctx, order = seen.ctx, seen.ctx.orders.rollback
        if faults := self.outbox.book.faults_of(ctx.key):
            self.events.handle(reports.options_invalid(ctx.key, faults, now, ctx.options.scaling_event_interval))
        held = await self.outbox.save(ctx.key, held, told_of_pause(ctx, held.state, now))
        if order is None or must_wait(held.state, order, now):
            return held
        history = await in_threads(self.outbox.threads, self.outbox.store.history, ctx.key, _EVER)
        may_act = self.execution.may_obey(ctx)
        around = Surroundings(history=history, redeployment=self.execution.actuator.redeployment, may_act=may_act)
        held = await self.outbox.save(ctx.key, held, taken_up(seen, held.state, order, now, around))
        await self.outbox.book.strike(ctx.key, order)
        return held

    async def _examine(
        self, seen: Observation, held: VersionedState, answer: Answer, now: datetime
    ) -> tuple[VersionedState, NotReady | None]:
        """Take back what made the job sick, before anything else: that it runs, or was ever seen to, is not needed."""
        state, ctx = await self.rollback.observe(seen, held.state, now, self.events)
        held = await self.outbox.save(ctx.key, held, state)
        sick = await self.decider.examine(ctx, answer, now)
        seen = replace(seen, ctx=ctx)
        judged = judge(seen, held.state, sick, now, may_act=self.execution.may_act(ctx))
        held = await self.outbox.save(ctx.key, held, judged.state)
        if sick is not None and judged.raises and await self.outbox.may_act(ctx.key):
            judged = await self.rollback.raise_memory(seen, held.state, sick)
            held = await self.outbox.save(ctx.key, held, judged.state)
        if sick is not None and ctx.aftermath is None:
            self.events.handle(reports.unrecoverable(ctx.key, str(sick), now, ctx.options.scaling_event_interval))
        return held, judged.obstacle

    async def _follow(
        self, seen: Observation, held: VersionedState, now: datetime
    ) -> tuple[VersionedState, NotReady | None]:
        """Carry a redeploy one step further, whatever is seen of the job: it may be stopped at this moment."""
        ctx, intent = seen.ctx, held.state.intent
        if intent is None or intent.redeploy is None:
            return held, None
        sample = seen.sample if seen.problem is None else None
        settlement = settle_redeploy(ctx, held.state, now, sample=sample)
        held = await self.outbox.save(ctx.key, held, settlement.state)
        if settlement.request:
            allowed = self._may_act(ctx, intent) and (may_begin(intent, now) or bool(intent.takes_back))
            options = replace(ctx.options, scaling_enabled=allowed, realizer=intent.redeploy.realizer)
            held = await self.execution.actuator.request(replace(ctx, options=options), held, now)
        return held, in_flight(held.state.intent, now) if held.state.intent else None

    async def _settle(
        self, seen: Observation, held: VersionedState, now: datetime
    ) -> tuple[VersionedState, NotReady | None]:
        """Carry an open intent one step further, and name what stands in the way of a new decision."""
        ctx, intent = seen.ctx, held.state.intent
        is_ordered = intent is not None and intent.ordered
        may_act = self._may_act(ctx, intent) and (is_ordered or excluded_period(ctx.options, now) is None)
        if intent is not None and intent.takes_back:
            fresh = seen.sample if seen.problem is None else None
            settlement = settle_rollback(ctx, held.state, now, sample=fresh, may_act=may_act)
        elif seen.sample is None:
            return held, None
        else:
            settlement = settle(seen.sample, held.state, ctx.options, now, may_act=may_act, problem=seen.problem)
        state, paused = pause(ctx, settlement.state, now)
        held = await self.outbox.save(ctx.key, held, state)
        if seen.problem is not None and not settlement.regardless:
            return held, seen.problem
        if settlement.request:
            held = await self.execution.actuator.request(ctx, held, now)
        open_intent = held.state.intent if settlement.in_flight else None
        return held, in_flight(open_intent, now) if open_intent else paused

    def _may_act(self, ctx: JobContext, intent: Intent | None) -> bool:
        is_ordered = intent is not None and intent.ordered
        return self.execution.may_obey(ctx) if is_ordered else self.execution.may_act(ctx)

    async def _remember(self, ctx: JobContext, held: VersionedState, decision: Decision) -> VersionedState:
        """Keep the wishes that wait, and tell what was noticed on the way."""
        for notice in decision.notices:
            self.events.handle(reports.noticed(notice, decision, ctx.options.scaling_event_interval))
        wishes = decision.delayed
        if wishes is None or not is_news(held.state.delayed, wishes, ctx.options.scale_down_interval):
            return held
        return await self.outbox.save(ctx.key, held, replace(held.state, delayed=wishes))


def _of_this_job(state: JobState, seen: Observation) -> JobState:
    """Leave out the wishes of a job that another one has taken the name of."""
    since = seen.since
    if since is None:
        return state
    return replace(state, delayed={v: wishes for v, wishes in state.delayed.items() if wishes.first_at >= since})
