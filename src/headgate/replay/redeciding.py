"""
Decides again for some jobs, tick by tick, by the same evaluation and the same care as when it was decided first.

A job is followed until something else would have become of it: what its cluster did after that is another past.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headgate.config.other import OtherOptions
from headgate.control.care import Answer, Care
from headgate.control.deciding import PlainDecider, names_own_mode
from headgate.control.execution import Execution
from headgate.control.observation import candidate
from headgate.control.outcomes import unevaluated
from headgate.control.reactive.sharing import is_reactive
from headgate.control.restarts import Restarts
from headgate.control.rollback.step import RollbackStep
from headgate.errors import ConfigError
from headgate.model.decision import Decision
from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey, VertexId
from headgate.model.samples import JobSample
from headgate.model.state import DelayedScaleDown
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.evaluators import stands_apart
from headgate.pipeline.evaluation import Question, Windows
from headgate.pipeline.roster import Fleet, Roster
from headgate.ports import Candidate
from headgate.replay.comparing import Step, Verdict, compared
from headgate.replay.past import Gap, Moment, Past
from headgate.replay.redeploys import Redeploys
from headgate.replay.without_effect import AnsweredBefore, Notebook, Unheard

WindowsAt = Callable[[Fleet, Question], Windows]
"""Gives the reduced windows of a fleet for a question."""

ITS_PAST = "something else would have become of it before"
_OUTSIDE_THE_LOG = "its options name {}, which go by more than the log holds"
_REACTIVE = "it is in reactive mode: its share of the slots depended on its cluster at that moment"


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """With what is decided again; a value, which may be pickled."""

    other: OtherOptions
    redeploys: Redeploys
    _known: dict[int, tuple[AutoscalerOptions, AutoscalerOptions]] = field(default_factory=dict)
    """By identity: many moments share their options, and the same ones must stay one object."""

    def at(self, moment: Moment) -> Moment:
        """
        Give a moment with the other options.

        Raises:
            ConfigError: they do not go together with the job's.
        """
        held = moment.seen.ctx.options
        base, options = self._known.get(id(held), (None, held))
        if base is not held:
            options = self.other.over(held)
            self._known[id(held)] = held, options
        if options is held:
            return moment
        return replace(moment, seen=replace(moment.seen, ctx=replace(moment.seen.ctx, options=options)))

    def candidate(self, moment: Moment) -> Candidate | None:
        """Give the job for evaluation as it was at a moment, None if it was not up or the options do not fit it."""
        with suppress(ConfigError):
            moment = self.at(moment)
            return candidate(moment.seen, moment.circumstances.state, moment.recorded.at, restarts(moment))
        return None


@dataclass(slots=True, kw_only=True)
class _Career:
    """A job in its replay: what is left of its past, and the wishes that are its own by now."""

    moments: Iterator[Moment | Gap]
    next: Moment | Gap | None = None
    own: Mapping[VertexId, DelayedScaleDown] | None = None
    """Wishes to shrink, once they are others than the recorded ones."""
    history: object = None
    parted: bool = False

    def advance(self) -> None:
        self.next = next(self.moments, None)

    def state_of(self, moment: Moment) -> Moment:
        """Give a moment with the job's own wishes, which a rescale ends."""
        state = moment.circumstances.state
        if self.history is not None and self.history != state.history:
            self.own = None
        self.history = state.history
        if self.own is None:
            return moment
        known = replace(moment.circumstances, state=replace(state, delayed=self.own))
        return replace(moment, circumstances=known)


@dataclass(frozen=True, kw_only=True)
class Redecider:
    """Decides again for jobs whose windows are at hand."""

    alternative: Alternative
    windows: WindowsAt
    _roster: Roster = field(default_factory=Roster)

    async def steps(self, pasts: Iterable[Past]) -> list[Step]:
        """Decide every decision of these jobs again, and hold each against the recorded one."""
        found: list[Step] = []
        careers = [_Career(moments=past.moments()) for past in pasts]
        for career in careers:
            career.advance()
        while at := min((career.next.recorded.at for career in careers if career.next), default=None):
            due = [(career, career.next) for career in careers if career.next and career.next.recorded.at == at]
            found += await self._tick(due, at)
            for career, _ in due:
                career.advance()
        return found

    async def _tick(self, due: Sequence[tuple[_Career, Moment | Gap]], at: datetime) -> Sequence[Step]:
        ready = [(career, self._ready(career, moment)) for career, moment in due]
        answers = self._answers([moment for _, moment in ready if isinstance(moment, Moment)], at)
        return [
            moment if isinstance(moment, Step) else await self._again(career, moment, answers)
            for career, moment in ready
        ]

    def _ready(self, career: _Career, moment: Moment | Gap) -> Moment | Step:
        """Give a moment as it is to be decided again, or why it cannot be."""
        if isinstance(moment, Gap):
            return _incomparable(moment, moment.why)
        if career.parted:
            return _incomparable(moment, ITS_PAST)
        try:
            again = self.alternative.at(career.state_of(moment))
        except ConfigError as error:
            return _incomparable(moment, f"the options do not go together with its own: {'; '.join(error.faults)}")
        why = left_out(moment.seen.ctx.options) or left_out(again.seen.ctx.options)
        return _incomparable(moment, why) if why else again

    def _answers(self, moments: Sequence[Moment], at: datetime) -> Mapping[JobKey, Answer]:
        by_interval: dict[timedelta, list[Candidate]] = defaultdict(list)
        for moment in moments:
            if known := candidate(moment.seen, moment.circumstances.state, at, restarts(moment)):
                by_interval[moment.circumstances.collect_interval].append(known)
        answers: dict[JobKey, Answer] = {}
        for interval, candidates in by_interval.items():
            question = Question(candidates=candidates, now=at, collect_interval=interval)
            fleet = self._roster.fleet(candidates)
            answers |= dict(question.answers(fleet, self.windows(fleet, question)))
        return answers

    async def _again(self, career: _Career, moment: Moment, answers: Mapping[JobKey, Answer]) -> Step:
        seen, notebook = moment.seen, Notebook()
        if seen.ctx.orders.rollback:  # which rescale is meant follows from the history that the store tells
            notebook.store.save(seen.ctx.key, moment.held.state, 0)
        effects = AnsweredBefore(recorded=moment.recorded, redeployment=self.alternative.redeploys.redeployment)
        answer = restarts(moment).noted(seen.ctx, seen.sample, answers.get(seen.ctx.key) or unevaluated(seen))
        try:
            care = self._care(moment, effects, notebook)
            decision = await care.decide(seen, moment.held, answer, moment.recorded.at, timedelta())
            step = compared(moment.recorded, decision, repeated=effects.repeated)
        except Exception as error:  # noqa: BLE001 - one job's failure is that job's, whatever it is
            return _incomparable(moment, f"it cannot be decided again: {str(error) or type(error).__name__}")
        if step.verdict is Verdict.DIFFERENT:
            career.parted = True
        elif career.own is not None or _wishes_otherwise(step, moment, decision):
            career.own = notebook.saved.get(seen.ctx.key, moment.circumstances.state).delayed
        return step

    @staticmethod
    def _care(moment: Moment, effects: AnsweredBefore, notebook: Notebook) -> Care:
        unheard = Unheard()
        execution = Execution(
            mode=moment.circumstances.mode,
            actuator=effects,
            events=unheard,
            steering=None,
            has_room=lambda _: True,
        )
        return Care(
            decider=PlainDecider(), execution=execution, rollback=RollbackStep(), outbox=notebook, events=unheard
        )


@dataclass(frozen=True, slots=True)
class _Predicted:
    """A `ports.DowntimeModel` that says what was predicted then."""

    downtime: Downtime | None

    def predict(self, _sample: JobSample, /, *, redeploy: bool) -> Downtime | None:  # noqa: ARG002 - the port's
        """Give it."""
        return self.downtime


def restarts(moment: Moment) -> Restarts:
    """Give what was known of how long a restart takes."""
    return Restarts(model=_Predicted(moment.circumstances.downtime))


def left_out(options: AutoscalerOptions) -> str:
    """Say why a job with these options cannot be replayed; empty where it can."""
    if is_reactive(options):
        return _REACTIVE
    own = {
        "an evaluator or evaluator plugins": stands_apart(options),
        "decision plugins": bool(options.custom_executors),
        "an alignment mode": names_own_mode(options),
    }
    named = [what for what, is_named in own.items() if is_named]
    return _OUTSIDE_THE_LOG.format(f"plugins ({', '.join(named)})") if named else ""


def _wishes_otherwise(step: Step, moment: Moment, decision: Decision) -> bool:
    return step.verdict is Verdict.RENUMBERED and moment.recorded.decision.delayed != decision.delayed


def _incomparable(moment: Moment | Gap, why: str) -> Step:
    recorded = moment.recorded
    return Step(job=recorded.row["job"], at=recorded.at, verdict=Verdict.NOT_COMPARABLE, why=why)
