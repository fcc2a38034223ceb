"""
The evaluator of a fleet in which some jobs have an evaluator or evaluator plugins of their own.

Those leave the batch: their windows are read back as samples, and each is evaluated as a batch of one, by the same
functions. All others go through the batch as if there were no plugins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

from headgate.errors import HeadgateError, PluginError
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.evaluators import BUILT_IN, is_own, stands_apart
from headgate.options.live import Live, in_force
from headgate.pipeline.evaluation import Answer, Question
from headgate.pipeline.in_process import evaluated_over
from headgate.pipeline.overriding import Overriding
from headgate.plugins.errands import Errands
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.plugins.reports import plugin_failed
from headgate.plugins.soundness import sound_metrics
from headgate.ports import Candidate, CollectedMetrics, EventHandler, FleetEvaluator

_NEVER = datetime.min.replace(tzinfo=UTC)


class WindowSource(Protocol):
    """Gives samples back, from the log or from memory."""

    def samples(self, candidates: Sequence[Candidate], /) -> Mapping[JobKey, tuple[JobSample, ...]]:
        """Give the samples of each job over `[window_from, window_until]`, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Answers(Mapping[JobKey, Answer]):
    """The answers of the jobs apart over those of the fleet."""

    apart: Mapping[JobKey, Answer]
    fleet: Mapping[JobKey, Answer]

    def __len__(self) -> int:
        return len(self.apart) + len(self.fleet)

    def __iter__(self) -> Iterator[JobKey]:
        yield from self.fleet
        yield from self.apart

    def __getitem__(self, job: JobKey) -> Answer:
        own = self.apart.get(job)
        return self.fleet[job] if own is None else own


@dataclass(frozen=True, kw_only=True)
class SelectedEvaluator:
    """
    A `ports.FleetEvaluator` in front of that of the fleet.

    A job whose own evaluator fails is not ready. One whose evaluator plugin fails is evaluated without that plugin.
    Nobody waits for plugins longer than their budget: a job without an answer by then is not ready, and is asked for
    before the others in the next cycle.
    """

    fleet: FleetEvaluator
    windows: WindowSource
    host: PluginHost
    events: EventHandler
    collect_interval: Live[timedelta]
    _errands: Errands = field(default_factory=Errands, init=False)
    _answered: dict[JobKey, datetime] = field(default_factory=dict, init=False)
    """When a job apart had its last answer."""

    def evaluate(self, candidates: Sequence[Candidate], now: datetime, /) -> Mapping[JobKey, Answer]:
        """
        Answer every candidate: those apart meanwhile, in threads of their own.

        Raises:
            TransientError: the fleet could not be evaluated.
        """
        apart = [candidate for candidate in candidates if stands_apart(candidate.options)]
        if not apart:
            return self.fleet.evaluate(candidates, now)
        # Asked first, so that they are under way while the fleet is evaluated.
        under_way = self._begun(apart, now)
        others = [candidate for candidate in candidates if not stands_apart(candidate.options)]
        fleet = self.fleet.evaluate(others, now)
        wait(filter(None, under_way.values()), timeout=self.host.budget.total_seconds())
        return _Answers(
            apart={one.sample.job: self._in_time(one, under_way[one.sample.job], now) for one in apart}, fleet=fleet
        )

    def _in_time(self, candidate: Candidate, under_way: Future[Answer] | None, now: datetime) -> Answer:
        """Give the answer of a job apart if there is one by now."""
        job, options = candidate.sample.job, candidate.options
        if under_way is not None and not under_way.cancel() and under_way.done():
            self._answered[job] = now
            return under_way.result()
        own = [(Kind.METRIC_EVALUATOR, options.evaluator)] if is_own(options.evaluator) else []
        error = self.host.overdue(own or [(Kind.EVALUATOR_PLUGIN, name) for name in options.custom_evaluators])
        self._tell(candidate, error, now)
        return NotReady(reason=Reason.PLUGIN_FAILED, message=str(error))

    def _begun(self, candidates: Sequence[Candidate], now: datetime) -> Mapping[JobKey, Future[Answer] | None]:
        try:
            samples = self.windows.samples(candidates)
        except HeadgateError as error:
            unread = NotReady(reason=Reason.CYCLE_FAILED, message=f"the samples could not be read back: {error}")
            return {candidate.sample.job: _known(unread) for candidate in candidates}
        begin = partial(self._errands.begin, self.host.pool)
        return {
            one.sample.job: begin(one.sample.job, partial(self._one, one, samples[one.sample.job], now))
            for one in self._by_patience(candidates)
        }

    def _by_patience(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Put those first whose last answer is longest ago: when not all can have one, each has its turn."""
        jobs = {candidate.sample.job for candidate in candidates}
        for gone in self._answered.keys() - jobs:
            del self._answered[gone]
        return sorted(candidates, key=lambda one: self._answered.get(one.sample.job, _NEVER))

    def _one(self, candidate: Candidate, samples: Sequence[JobSample], now: datetime) -> Answer:
        if is_own(candidate.options.evaluator):
            return self._by_own(candidate, samples, now)
        return self._overridden(candidate, samples, now)

    def _by_own(self, candidate: Candidate, samples: Sequence[JobSample], now: datetime) -> Answer:
        """Ask the job's own evaluator, unless the samples are none to decide by whoever evaluates them."""
        usual = evaluated_over(samples, self._question(candidate, now))[candidate.sample.job]
        if isinstance(usual, NotReady) and usual.reason is not Reason.MISSING_METRICS:
            return usual
        name, options = candidate.options.evaluator or BUILT_IN, candidate.options
        collected = _collected(candidate, samples)
        try:
            plugin = self.host.ready(Kind.METRIC_EVALUATOR, name)
            return _evaluated(plugin, options, collected)
        except PluginError as error:
            self._tell(candidate, error, now)
            return NotReady(reason=Reason.PLUGIN_FAILED, message=str(error))

    def _overridden(self, candidate: Candidate, samples: Sequence[JobSample], now: datetime) -> Answer:
        """Evaluate with the chain, and again without each plugin that fails: half an override is none."""
        chain, failed = self.host.chain(Kind.EVALUATOR_PLUGIN, candidate.options.custom_evaluators)
        for error in failed:
            self._tell(candidate, error, now)
        while True:
            overriding = Overriding(chain=chain, candidate=candidate, collected=_collected(candidate, samples))
            question = self._question(candidate, now, overriding)
            answer = evaluated_over(samples, question)[candidate.sample.job]
            if overriding.failure is None:
                return answer
            failed_plugin, error = overriding.failure
            self._tell(candidate, error, now)
            chain = tuple(plugin for plugin in chain if plugin is not failed_plugin)

    def _question(self, candidate: Candidate, now: datetime, overriding: Overriding | None = None) -> Question:
        question = Question(candidates=[candidate], now=now, collect_interval=in_force(self.collect_interval))
        return question if overriding is None else overriding.hooked_into(question)

    def _tell(self, candidate: Candidate, error: PluginError, now: datetime) -> None:
        interval = candidate.options.scaling_event_interval
        self.events.handle(plugin_failed(candidate.sample.job, error, now, interval))


def _evaluated(plugin: Plugin, options: AutoscalerOptions, collected: CollectedMetrics) -> Answer:
    try:
        answer: EvaluatedMetrics | NotReady = plugin.port.evaluate(options, collected, options.restart_time)
    except Exception as error:
        raise plugin.failure(error) from error
    try:
        return sound_metrics(answer, collected.topology)
    except ValueError as error:
        raise plugin.nonsense(error) from error


def _known(answer: Answer) -> Future[Answer]:
    future: Future[Answer] = Future()
    future.set_result(answer)
    return future


def _collected(candidate: Candidate, samples: Sequence[JobSample]) -> CollectedMetrics:
    """Give what was collected: the latest sample as it was taken, the older ones as they are kept."""
    latest = candidate.sample
    older = tuple(sample for sample in samples if sample.at < latest.at)
    return CollectedMetrics(topology=latest.topology, samples=(*older, latest))
