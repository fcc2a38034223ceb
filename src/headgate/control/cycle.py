"""
One round over all jobs: settle what is open, evaluate, decide, re-validate, save the intent, act, save the outcome.

One `try` an effect: whatever fails for one job ends in that job's event and leaves the others alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from headgate.algorithm.agreement import at_risk
from headgate.algorithm.decide import not_ready
from headgate.algorithm.outlook import reckoned
from headgate.algorithm.permission import excluded_period
from headgate.algorithm.resources import Rescale, RoomQuestion, room_question
from headgate.control import reports
from headgate.control.actuation import Actuator
from headgate.control.deciding import Decider, PlainDecider
from headgate.control.intents import rejection_of, settle
from headgate.control.observation import Observation, candidate
from headgate.control.outbox import Held, Outbox
from headgate.control.outcomes import in_flight, unevaluated, without_change
from headgate.control.reactive.awaiting import await_workers
from headgate.control.reactive.sharing import is_reactive
from headgate.control.reactive.steering import Steering
from headgate.control.redeployment import may_begin, settle_redeploy
from headgate.control.restarts import Restarts
from headgate.control.rollback.judging import judge, pause
from headgate.control.rollback.step import RollbackStep
from headgate.control.rollback.taking_back import settle_rollback
from headgate.control.selection import has_own_realizer
from headgate.control.unlisted import Unlisted
from headgate.control.wishes import is_news
from headgate.errors import NotFoundError
from headgate.model.decision import ADVISORY, Decision, Outcome
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState, VersionedState
from headgate.options.live import Live, in_force
from headgate.options.service import Mode
from headgate.ports import Candidate, DecisionSink, EventHandler, FleetEvaluator, JobContext

Answer = EvaluatedMetrics | NotReady
RoomCheck = Callable[[RoomQuestion], bool]
"""The reference's `ResourceCheck`."""

NOBODY: Mapping[JobKey, JobContext] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """The control side of one tick; it holds its ports and nothing of any job."""

    mode: Live[Mode]
    evaluator: FleetEvaluator
    actuator: Actuator
    outbox: Outbox
    events: EventHandler
    decisions: DecisionSink
    rollback: RollbackStep = field(default_factory=RollbackStep)
    steering: Steering | None = None
    """Offers slots to reactive jobs, and steers the workers; None: there are neither."""
    restarts: Restarts = field(default_factory=Restarts)
    """Knows how long a rescale stops a job."""
    decider: Decider = field(default_factory=PlainDecider)
    """Decides for one job; with plugins, or as here without."""
    stopwatch: Callable[[], float] = time.monotonic
    """Seconds on a clock that only goes on."""
    has_room: RoomCheck = lambda _: True
    """Tells whether the cluster can hold a change; asked where CPUs and memory are known. Any can, unless told."""
    evaluation_limit: timedelta = timedelta(minutes=5)
    """How long a cycle waits for its evaluation; collecting goes on meanwhile."""

    async def run(
        self,
        observations: Mapping[JobKey, Observation],
        now: datetime,
        *,
        failed: Mapping[JobKey, JobContext] = NOBODY,
    ) -> tuple[Decision, ...]:
        """
        Decide for every observed job, act where that is allowed, and keep every outcome; never raises.

        Of jobs that have failed for good only those are cared for whose rescale is under observation.
        """
        began = self.stopwatch()
        everybodys = observations
        if self.steering:
            self.steering.begin(everybodys, now)
        observations = {job: seen for job, seen in observations.items() if self.outbox.looks_after(job)}
        observations = {**await self._between_jobs(observations, failed, now), **observations}
        self.outbox.keep_only(observations.keys())
        self.restarts.keep_only(observations.keys())
        held = await self.outbox.open_all(observations)
        answers = await self._evaluate(self._candidates(observations, held, now), now)
        late = timedelta(seconds=self.stopwatch() - began)
        decisions = await asyncio.gather(
            *(self._care_for(seen, held[key], answers, now, late) for key, seen in sorted(observations.items()))
        )
        await self._keep(decisions, now)
        if self.steering:
            await self.steering.steer({**everybodys, **observations}, decisions, _on_trial(held), now)
        return tuple(decisions)

    async def _between_jobs(
        self, seen: Collection[JobKey], failed: Mapping[JobKey, JobContext], now: datetime
    ) -> Mapping[JobKey, Observation]:
        unlisted = Unlisted(outbox=self.outbox, options_of=self.actuator.redeployment.options_of)
        try:
            return await unlisted.find(seen, failed)
        except Exception as error:  # noqa: BLE001 - the jobs that are listed are cared for, whatever failed here
            self._tell("jobs between stop and start could not be found", str(error) or type(error).__name__, now)
            return {}

    def _candidates(
        self, observations: Mapping[JobKey, Observation], held: MutableMapping[JobKey, Held], now: datetime
    ) -> Sequence[Candidate]:
        """Give the jobs that can be evaluated; one that fails in this is told of when its turn comes."""
        found: list[Candidate] = []
        for key, seen in observations.items():
            opened = held[key]
            if not isinstance(opened, VersionedState):
                continue
            try:
                known = candidate(seen, opened.state, now, self.restarts)
            except Exception as error:  # noqa: BLE001 - one job's failure is that job's event, whatever it is
                held[key] = error
            else:
                found += [known] if known else []
        return found

    async def _evaluate(self, candidates: Sequence[Candidate], now: datetime) -> Mapping[JobKey, Answer]:
        # An empty fleet is evaluated too: Spark takes its seconds to start while there is nothing to wait for it.
        try:
            async with asyncio.timeout(self.evaluation_limit.total_seconds()):
                return await asyncio.to_thread(self.evaluator.evaluate, candidates, now)
        except TimeoutError:
            return self._unevaluated(candidates, f"no answer within {self.evaluation_limit}", now)
        except Exception as error:  # noqa: BLE001 - open intents are settled all the same, whatever failed here
            return self._unevaluated(candidates, str(error) or type(error).__name__, now)

    def _unevaluated(self, candidates: Sequence[Candidate], why: str, now: datetime) -> Mapping[JobKey, Answer]:
        self._tell("jobs could not be evaluated", why, now)
        answer = NotReady(reason=Reason.CYCLE_FAILED, message=f"the evaluation failed: {why}")
        return {one.sample.job: answer for one in candidates}

    async def _care_for(
        self, seen: Observation, held: Held, answers: Mapping[JobKey, Answer], now: datetime, late: timedelta
    ) -> Decision:
        try:
            answer = self.restarts.noted(seen.ctx, seen.sample, answers.get(seen.ctx.key) or unevaluated(seen))
            return await self._decide(seen, _opened(held), answer, now, late)
        except NotFoundError as error:
            # no event: the collector tells of jobs that vanish, and of an intent that stays open its deadline
            why = NotReady(reason=Reason.JOB_NOT_RUNNING, message=f"the job is gone: {error}")
            return not_ready(seen.ctx.key, why, now)
        except Exception as error:  # noqa: BLE001 - one job's failure is that job's event, whatever it is
            interval = seen.ctx.options.scaling_event_interval
            self.events.handle(reports.job_error(seen.ctx.key, error, now, interval))
            why = NotReady(reason=Reason.CYCLE_FAILED, message=f"this cycle failed: {error}")
            return not_ready(seen.ctx.key, why, now)

    async def _decide(
        self, seen: Observation, held: VersionedState, answer: Answer, now: datetime, late: timedelta
    ) -> Decision:
        ctx, sample = seen.ctx, seen.sample
        held, sick = await self._examine(seen, held, answer, now)
        held, obstacle = await self._follow(seen, held, now)
        if obstacle is None:
            held, obstacle = await self._settle(seen, held, now)
        obstacle = sick or obstacle
        if sample is None or obstacle is not None:
            return not_ready(ctx.key, obstacle or seen.problem or unevaluated(seen), now)
        known = _of_this_job(held.state, seen)
        decision = await self.decider.decide(ctx, sample, answer, now, known)
        held = await self._remember(ctx, held, decision)
        decision = await self._carry_out(seen, sample, held, decision, late)
        return self._foretell(ctx, sample, known, decision)

    async def _carry_out(
        self, seen: Observation, sample: JobSample, held: VersionedState, decision: Decision, late: timedelta
    ) -> Decision:
        """Carry out what was decided, as far as it can and may be."""
        ctx, now = seen.ctx, decision.at
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
        if decision.reason in ADVISORY or not self._may_act(ctx) or not can_change:
            return self._advise(decision, seen, can_change=can_change)
        decision = replace(decision, acts=True, reason=Reason.RESCALED)
        return await self.actuator.rescale(ctx, sample, held, decision, late=late)

    def _foretell(self, ctx: JobContext, sample: JobSample, state: JobState, decision: Decision) -> Decision:
        """Say what becomes of the job by what came of its decision at last, and tell of a broken agreement."""
        decision = reckoned(decision, sample.topology, ctx.options, state)
        if decision.forecast is not None and decision.forecast.breaks:
            notice = at_risk(decision.forecast)
            self.events.handle(reports.noticed(notice, decision, ctx.options.scaling_event_interval))
        return decision

    def _after_workers(self, ctx: JobContext, sample: JobSample, decision: Decision) -> Decision:
        """Let what would be made wait for its workers; a reactive job was only offered what there is."""
        if self.steering is None:
            return decision
        if is_reactive(ctx.options) or decision.reason in ADVISORY or not self._may_act(ctx):
            self.steering.ledger.release(ctx.key)
            return decision
        replaces = self.actuator.redeployment.applies(ctx)
        return await_workers(self.steering.ledger, sample, decision, replaces=replaces)

    async def _hold(self, ctx: JobContext, sample: JobSample, now: datetime) -> None:
        """Let the engine give a reactive job that stays as it is nothing that is another one's."""
        ledger = self.steering.ledger if self.steering else None
        hold = ledger.due(ctx.key) if ledger else None
        may_act = self._may_act(ctx) and excluded_period(ctx.options, now) is None
        if ledger and hold and may_act and await self.actuator.hold(ctx, sample, now):
            ledger.held[ctx.key] = hold

    async def _examine(
        self, seen: Observation, held: VersionedState, answer: Answer, now: datetime
    ) -> tuple[VersionedState, NotReady | None]:
        """Take back what made the job sick, before anything else: that it runs, or was ever seen to, is not needed."""
        state, ctx = await self.rollback.observe(seen, held.state, now)
        held = await self.outbox.save(ctx.key, held, state)
        sick = await self.decider.examine(ctx, answer, now)
        seen = replace(seen, ctx=ctx)
        judged = judge(seen, held.state, sick, now, may_act=self._may_act(ctx))
        held = await self.outbox.save(ctx.key, held, judged.state)
        if sick is not None and judged.raises and await self.outbox.may_act(ctx.key):
            judged = await self.rollback.raise_memory(seen, held.state, sick)
            held = await self.outbox.save(ctx.key, held, judged.state)
        if sick is not None and ctx.aftermath is None:
            self.events.handle(reports.unrecoverable(ctx.key, sick.message, now, ctx.options.scaling_event_interval))
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
            allowed = self._may_act(ctx) and (may_begin(intent, now) or bool(intent.takes_back))
            options = replace(ctx.options, scaling_enabled=allowed, realizer=intent.redeploy.realizer)
            held = await self.actuator.request(replace(ctx, options=options), held, now)
        return held, in_flight(held.state.intent, now) if held.state.intent else None

    async def _settle(
        self, seen: Observation, held: VersionedState, now: datetime
    ) -> tuple[VersionedState, NotReady | None]:
        """Carry an open intent one step further, and name what stands in the way of a new decision."""
        ctx, intent = seen.ctx, held.state.intent
        may_act = self._may_act(ctx) and excluded_period(ctx.options, now) is None
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
            held = await self.actuator.request(ctx, held, now)
        open_intent = held.state.intent if settlement.in_flight else None
        return held, in_flight(open_intent, now) if open_intent else paused

    async def _remember(self, ctx: JobContext, held: VersionedState, decision: Decision) -> VersionedState:
        """Keep the wishes that wait, and tell what was noticed on the way."""
        for notice in decision.notices:
            self.events.handle(reports.noticed(notice, decision, ctx.options.scaling_event_interval))
        wishes = decision.delayed
        if wishes is None or not is_news(held.state.delayed, wishes, ctx.options.scale_down_interval):
            return held
        return await self.outbox.save(ctx.key, held, replace(held.state, delayed=wishes))

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
        return self.actuator.redeployment.applies(ctx) or has_own_realizer(ctx.options)

    def _may_act(self, ctx: JobContext) -> bool:
        return in_force(self.mode) is Mode.ACT and ctx.options.enabled and ctx.options.scaling_enabled

    def _advise(self, decision: Decision, seen: Observation, *, can_change: bool) -> Decision:
        limit = "" if can_change else "; advice only: the job's scheduler does not rescale in place"
        reason = decision.reason if decision.reason in ADVISORY else Reason.ADVICE
        advice = replace(decision, reason=reason, message=decision.message + limit)
        self.events.handle(reports.scaling_report(advice, seen.ctx.options.scaling_event_interval))
        return advice

    async def _keep(self, decisions: Sequence[Decision], now: datetime) -> None:
        try:
            await asyncio.to_thread(self.decisions.append_decisions, decisions)
        except Exception as error:  # noqa: BLE001 - what was decided is done; the next cycle's decisions may be kept
            self._tell("decisions could not be kept", str(error) or type(error).__name__, now)

    def _tell(self, what: str, why: str, now: datetime) -> None:
        self.events.handle(reports.fleet_error(what, why, now))


def _of_this_job(state: JobState, seen: Observation) -> JobState:
    """Leave out the wishes of a job that another one has taken the name of."""
    since = seen.since
    if since is None:
        return state
    return replace(state, delayed={v: wishes for v, wishes in state.delayed.items() if wishes.first_at >= since})


def _on_trial(held: Mapping[JobKey, Held]) -> Collection[JobKey]:
    return {job for job, opened in held.items() if isinstance(opened, VersionedState) and opened.state.trial}


def _opened(held: Held) -> VersionedState:
    if isinstance(held, BaseException):
        raise held
    return held
