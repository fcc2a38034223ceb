"""
Deciding for one job with the plugins that its options name: checkers, an alignment mode, a chain of decision plugins.

A job without any is decided for on the spot. Plugins are asked in threads, as each may take its deadline; one that
fails is left out of this decision, and a notice names it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from headgate.algorithm.alignment import AlignmentMode, OwnAlignment, Span
from headgate.algorithm.decide import LoadChain, decide
from headgate.algorithm.propose import UNKNOWN
from headgate.algorithm.review import Chain, amended, forbidden
from headgate.control.examining import Examined, examined, others_checkers, own_checkers
from headgate.errors import PluginError
from headgate.model.decision import ConfigChanges, Decision, Notice, Outcome
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.rollback import Evidence
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.plugins.errands import Errands
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.plugins.reports import failure_noticed, plugin_failed
from headgate.ports import AlignmentQuestion, Change, EventHandler, JobContext

Answer = EvaluatedMetrics | NotReady
T = TypeVar("T")

_BUILT_IN = {str(mode) for mode in AlignmentMode}


class Decider(Protocol):
    """Decides for one job."""

    async def examine(self, ctx: JobContext, answer: Answer, now: datetime) -> Evidence | None:
        """Give the evidence that a job is beyond recovery, when nothing may be decided for it; None without any."""

    async def decide(
        self, ctx: JobContext, sample: JobSample, answer: Answer, now: datetime, state: JobState
    ) -> Decision:
        """Decide by a job's numbers and its past."""

    async def review(self, ctx: JobContext, decision: Decision, chain: Chain) -> Decision:
        """Let the job's decision plugins have their say on a rescale, held to the rules that it follows from."""


class PlainDecider:
    """Decides without plugins."""

    async def examine(self, _ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Let everything be decided."""
        return None

    async def decide(
        self, ctx: JobContext, sample: JobSample, answer: Answer, now: datetime, state: JobState
    ) -> Decision:
        """Decide."""
        return decide(sample, answer, ctx.options, now, state)

    async def review(self, _ctx: JobContext, decision: Decision, _chain: Chain) -> Decision:
        """Leave it as it is."""
        return decision


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginDecider:
    """
    Decides with the plugins that a job's options name.

    Nobody waits for them longer than their budget: without an answer by then checkers say nothing, and the decision is
    the plain one.
    """

    host: PluginHost
    events: EventHandler
    _errands: Errands = field(default_factory=Errands, init=False)

    async def examine(self, ctx: JobContext, answer: Answer, now: datetime) -> Evidence | None:
        """
        Ask the job's checkers whether it is beyond recovery; one that fails says nothing.

        Headgate's own cost nothing for a job without a rescale under observation.
        """
        names = ctx.options.rollback.checkers
        if not ctx.options.enabled or not names:
            return None
        evaluated = answer if isinstance(answer, EvaluatedMetrics) else None
        verdicts: Examined = ()
        if ctx.aftermath is not None:
            verdicts = examined(self.host, own_checkers(self.host, names), ctx, evaluated)
        if others := others_checkers(self.host, names):
            verdicts += await self._in_time(ctx, partial(examined, self.host, others, ctx, evaluated)) or ()
        return self._condemned(ctx, verdicts, now)

    async def decide(
        self, ctx: JobContext, sample: JobSample, answer: Answer, now: datetime, state: JobState
    ) -> Decision:
        """Decide, and let the job's decision plugins have their say on a rescale."""
        options = ctx.options
        if options.custom_executors or names_own_mode(options):
            decided: Decision | None = await self._in_time(ctx, partial(self._decided, ctx, sample, answer, now, state))
            return decided or self._overdue(options, decide(sample, answer, options, now, state))
        return decide(sample, answer, options, now, state)

    async def review(self, ctx: JobContext, decision: Decision, chain: Chain) -> Decision:
        """Ask the job's decision plugins about a rescale; without an answer in time it is made as it is."""
        if decision.outcome is not Outcome.RESCALE or not ctx.options.custom_executors:
            return decision
        reviewed: Decision | None = await self._in_time(ctx, partial(self._reviewed, ctx, decision, chain))
        return reviewed or self._overdue(ctx.options, decision)

    async def _in_time(self, ctx: JobContext, call: Callable[[], T]) -> T | None:
        """Ask plugins in a thread; None without an answer in time, or while the job's last question is not answered."""
        under_way = self._errands.begin(self.host.pool, ctx.key, call)
        if under_way is None:
            return None
        waiting: asyncio.Future[T] = asyncio.wrap_future(under_way)
        await asyncio.wait([waiting], timeout=self.host.budget.total_seconds())
        return None if waiting.cancel() else waiting.result()

    def _overdue(self, options: AutoscalerOptions, decision: Decision) -> Decision:
        named = [(Kind.DECISION_PLUGIN, name) for name in options.custom_executors]
        if names_own_mode(options):
            named.append((Kind.ALIGNMENT_MODE, str(options.alignment_mode)))
        return _noticing(decision, [failure_noticed(self.host.overdue(named))])

    def _condemned(self, ctx: JobContext, verdicts: Examined, now: datetime) -> Evidence | None:
        """Tell of the checkers that failed, and give what the first one says that condemns the job."""
        for error in (verdict for verdict in verdicts if isinstance(verdict, PluginError)):
            self.events.handle(plugin_failed(ctx.key, error, now, ctx.options.scaling_event_interval))
        return next((verdict for verdict in verdicts if isinstance(verdict, Evidence)), None)

    def _decided(self, ctx: JobContext, sample: JobSample, answer: Answer, now: datetime, state: JobState) -> Decision:
        """Decide with the job's own alignment mode; by the built-in one where that fails."""
        options, name = ctx.options, ctx.options.alignment_mode

        def decided(align: OwnAlignment | None) -> Decision:
            decision = decide(sample, answer, options, now, state, align=align)
            evaluated = decision.evaluated
            if decision.outcome is not Outcome.RESCALE or evaluated is None or not options.custom_executors:
                return decision
            return self._reviewed(
                ctx, decision, LoadChain.of(sample, evaluated, options, now, state=state, align=align)
            )

        if name is None or not names_own_mode(options):
            return decided(None)
        try:
            return decided(_own_alignment(self.host.ready(Kind.ALIGNMENT_MODE, name), sample, answer))
        except PluginError as error:
            return _noticing(decided(None), [failure_noticed(error)])

    def _reviewed(self, ctx: JobContext, decision: Decision, chain: Chain) -> Decision:
        plugins, failed = self.host.chain(Kind.DECISION_PLUGIN, ctx.options.custom_executors)
        decision = _noticing(decision, map(failure_noticed, failed))
        for plugin in plugins:
            if decision.outcome is Outcome.RESCALE:
                decision = _amended_by(plugin, ctx, decision, chain)
        return chain.permitted(decision)


def names_own_mode(options: AutoscalerOptions) -> bool:
    """Tell whether a job is aligned by a plugin."""
    return options.alignment_mode is not None and options.alignment_mode not in _BUILT_IN


def _own_alignment(plugin: Plugin, sample: JobSample, answer: Answer) -> OwnAlignment:
    metrics = dict(answer.vertices.items()) if isinstance(answer, EvaluatedMetrics) else {}

    def own(vertex: Vertex, target: int, span: Span) -> int | None:
        question = AlignmentQuestion(
            vertex=vertex,
            target=target,
            lower=span.lower,
            upper=span.most,
            inputs=tuple(edge.ship_strategy for edge in sample.topology.inputs[vertex.id]),
            metrics=metrics.get(vertex.id, UNKNOWN),
        )
        try:
            return plugin.port.align(question) if plugin.port.is_applicable(question) else None
        except Exception as error:
            raise plugin.failure(error) from error

    return own


def _amended_by(plugin: Plugin, ctx: JobContext, decision: Decision, chain: Chain) -> Decision:
    wanted = {vertex: proposal.wanted for vertex, proposal in decision.changes.items()}
    change = Change(parallelism=wanted, config=decision.config)
    try:
        answer: Change | None = plugin.port.decide(ctx, decision, change)
    except Exception as error:  # noqa: BLE001 - it is anybody's code
        return _noticing(decision, [failure_noticed(plugin.failure(error))])
    if answer is None or (not answer.parallelism and answer.config == ConfigChanges()):
        return forbidden(decision, plugin=plugin.name)
    if answer == change:
        return decision
    return amended(decision, answer.parallelism, answer.config, chain, plugin=plugin.name)


def _noticing(decision: Decision, notices: Iterator[Notice] | list[Notice]) -> Decision:
    return replace(decision, notices=(*decision.notices, *notices))
