"""
One round over all jobs: evaluate them together, care for each by itself, keep what came of it.

One `try` an effect: whatever fails for one job ends in that job's event and leaves the others alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from headgate.algorithm.decide import not_ready
from headgate.control import reports
from headgate.control.actuation import Actuator
from headgate.control.care import Answer, Care
from headgate.control.deciding import Decider, PlainDecider
from headgate.control.execution import Execution, RoomCheck
from headgate.control.observation import Observation, candidate
from headgate.control.outbox import Held, Outbox
from headgate.control.outcomes import unevaluated
from headgate.control.reactive.steering import Steering
from headgate.control.recording import Recorder
from headgate.control.restarts import Restarts
from headgate.control.rollback.step import RollbackStep
from headgate.control.unlisted import Unlisted
from headgate.errors import NotFoundError
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.state import VersionedState
from headgate.options.live import Live
from headgate.options.service import Mode
from headgate.options.units import format_duration
from headgate.ports import Candidate, DecisionSink, EventHandler, FleetEvaluator, JobContext

NOBODY: Mapping[JobKey, JobContext] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """The control side of one tick; it holds its ports, and of jobs what was decided since the last one."""

    mode: Live[Mode]
    evaluator: FleetEvaluator
    actuator: Actuator
    outbox: Outbox
    events: EventHandler
    decisions: DecisionSink
    rollback: RollbackStep = field(default_factory=RollbackStep)
    early: FleetEvaluator | None = None
    """Evaluates the few jobs that are decided for before their turn; None: the evaluator of all does."""
    early_decisions: DecisionSink | None = None
    """Keeps what is decided of them, apart from whole cycles; None: with those."""
    recorder: Recorder | None = None
    """Keeps what decisions depended on; None: nobody will make them again."""
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
    """How long a cycle waits for its evaluation; collecting, and deciding before the turn, go on meanwhile."""
    deciding: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """
    Held by whoever decides, and whoever calls `run_early`: of one job there is one decision at a time.

    Not held while a cycle evaluates all jobs, which takes seconds, and a minute where Spark is started for it.
    """
    _evaluating: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Held while `evaluator` is asked, which answers one question at a time."""
    _early: dict[JobKey, Decision] = field(default_factory=dict, init=False)
    """The latest decision of each job that was decided for before its turn since the last cycle."""

    @property
    def _care(self) -> Care:
        execution = Execution(
            mode=self.mode,
            actuator=self.actuator,
            events=self.events,
            steering=self.steering,
            has_room=self.has_room,
        )
        return Care(
            decider=self.decider, execution=execution, rollback=self.rollback, outbox=self.outbox, events=self.events
        )

    async def run(
        self,
        observations: Mapping[JobKey, Observation],
        now: datetime,
        *,
        failed: Mapping[JobKey, JobContext] = NOBODY,
    ) -> tuple[Decision, ...]:
        """
        Decide for every observed job, act where that is allowed, and keep every outcome; never raises.

        Of jobs that have failed for good only those are cared for whose rescale is under observation. A job that was
        decided for after `now`, before its turn, is left at that decision: the cycle's evaluation is older.
        """
        began = self.stopwatch()
        async with self.deciding:
            if not await self._know_orders(now):
                return await self._undecided(observations, now)
            everybodys = self._under_orders(observations)
            if self.steering:
                self.steering.begin(everybodys, now, are_all_paused=self.outbox.book.are_all_paused)
            observations = {job: seen for job, seen in everybodys.items() if self.outbox.looks_after(job)}
            absent = await self._between_jobs(observations, failed, now)
            observations = {**self._under_orders(absent), **observations}
            self.outbox.keep_only(observations.keys())
            self.restarts.keep_only(observations.keys())
            held = await self.outbox.open_all(observations)
            candidates = self._candidates(observations, held, now)
        answers = await self._evaluate(self.evaluator, candidates, now)
        async with self.deciding:
            overtaken = {job: one for job, one in self._early.items() if job in observations and one.at > now}
            observations = {job: seen for job, seen in observations.items() if job not in overtaken}
            decisions = await self._decide(observations, held, answers, now, began)
            await self._keep(decisions, now, self.decisions)
            decisions = (*decisions, *overtaken.values())
            if self.steering:
                await self.steering.steer({**everybodys, **observations}, decisions, _on_trial(held), now)
            await self._record(observations, held, now)
            self._early.clear()
        return decisions

    async def run_early(self, observations: Mapping[JobKey, Observation], now: datetime) -> tuple[Decision, ...]:
        """
        Decide for some observed jobs before their turn, act where that is allowed, keep every outcome; never raises.

        What concerns other jobs, or the cluster, is left to whole cycles. `now` is the begin of none of these. Whoever
        calls it while a cycle may be under way holds `deciding`, and takes `now` from the clock only then.
        """
        began = self.stopwatch()
        if not await self._know_orders(now):
            return ()
        observations = self._under_orders(observations)
        observations = {job: seen for job, seen in observations.items() if self.outbox.looks_after(job)}
        held = await self.outbox.open_all(observations)
        candidates = self._candidates(observations, held, now)
        answers = await self._evaluate(self.early or self.evaluator, candidates, now)
        decisions = await self._decide(observations, held, answers, now, began)
        await self._keep(decisions, now, self.early_decisions or self.decisions)
        await self._record(observations, held, now, early=True)
        self._early.update({one.job: one for one in decisions})
        return decisions

    async def _decide(
        self,
        observations: Mapping[JobKey, Observation],
        held: Mapping[JobKey, Held],
        answers: Mapping[JobKey, Answer],
        now: datetime,
        began: float,
    ) -> tuple[Decision, ...]:
        """Care for each of some jobs that were evaluated together."""
        late = timedelta(seconds=self.stopwatch() - began)
        cared_for = (self._care_for(seen, held[key], answers, now, late) for key, seen in sorted(observations.items()))
        return tuple(await asyncio.gather(*cared_for))

    async def _record(
        self,
        observations: Mapping[JobKey, Observation],
        held: Mapping[JobKey, Held],
        now: datetime,
        *,
        early: bool = False,
    ) -> None:
        # Last of all: nothing that acts waits for a record.
        if self.recorder:
            await self.recorder.record(observations, held, now, early=early)

    async def _know_orders(self, now: datetime) -> bool:
        """Read what people have ordered; while the store does not answer, what it told before holds."""
        if why := await self.outbox.book.read():
            self._tell("orders could not be read, those that are known hold", why, now)
        return self.outbox.book.standing is not None

    async def _undecided(self, observations: Collection[JobKey], now: datetime) -> tuple[Decision, ...]:
        """Decide nothing: any job may be one that must not be changed."""
        why = NotReady(reason=Reason.CYCLE_FAILED, message="what people have ordered is not known yet")
        decisions = [not_ready(job, why, now) for job in sorted(observations) if self.outbox.looks_after(job)]
        await self._keep(decisions, now, self.decisions)
        return tuple(decisions)

    def _under_orders(self, observations: Mapping[JobKey, Observation]) -> Mapping[JobKey, Observation]:
        applied = self.outbox.book.applied
        return {job: replace(seen, ctx=applied(seen.ctx)) for job, seen in observations.items()}

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

    async def _evaluate(
        self, evaluator: FleetEvaluator, candidates: Sequence[Candidate], now: datetime
    ) -> Mapping[JobKey, Answer]:
        # An empty fleet is evaluated too: Spark takes its seconds to start while there is nothing to wait for it.
        turn = self._evaluating if evaluator is self.evaluator else nullcontext()
        try:
            async with asyncio.timeout(self.evaluation_limit.total_seconds()), turn:
                return await asyncio.to_thread(evaluator.evaluate, candidates, now)
        except TimeoutError:
            return self._unevaluated(candidates, f"no answer within {format_duration(self.evaluation_limit)}", now)
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
            return await self._care.decide(seen, _opened(held), answer, now, late)
        except NotFoundError as error:
            # no event: the collector tells of jobs that vanish, and of an intent that stays open its deadline
            why = NotReady(reason=Reason.JOB_NOT_RUNNING, message=f"the job is gone: {error}")
            return not_ready(seen.ctx.key, why, now)
        except Exception as error:  # noqa: BLE001 - one job's failure is that job's event, whatever it is
            interval = seen.ctx.options.scaling_event_interval
            self.events.handle(reports.job_error(seen.ctx.key, error, now, interval))
            why = NotReady(reason=Reason.CYCLE_FAILED, message=f"this cycle failed: {error}")
            return not_ready(seen.ctx.key, why, now)

    async def _keep(self, decisions: Sequence[Decision], now: datetime, sink: DecisionSink) -> None:
        try:
            await asyncio.to_thread(sink.append_decisions, decisions)
        except Exception as error:  # noqa: BLE001 - what was decided is done; the next cycle's decisions may be kept
            self._tell("decisions could not be kept", str(error) or type(error).__name__, now)

    def _tell(self, what: str, why: str, now: datetime) -> None:
        self.events.handle(reports.fleet_error(what, why, now))


def _on_trial(held: Mapping[JobKey, Held]) -> Collection[JobKey]:
    return {job for job, opened in held.items() if isinstance(opened, VersionedState) and opened.state.trial}


def _opened(held: Held) -> VersionedState:
    if isinstance(held, BaseException):
        raise held
    return held
