"""Decorators over ports that note what comes of each call, and how long it takes; they change nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, cast

from headgate.algorithm.review import Chain
from headgate.control.deciding import Answer, Decider
from headgate.errors import ConflictError
from headgate.model.decision import ConfigChanges, Decision
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.orders import StandingOrders
from headgate.model.rollback import Evidence
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.ports import (
    Candidate,
    Circumstances,
    CircumstanceSink,
    DecisionSink,
    FleetEvaluator,
    JobContext,
    SampleSink,
    ScalingRealizer,
    StateStore,
)
from headgate.telemetry.phases import Phase, Phases
from headgate.telemetry.vitals import Vitals


def watched_store(store: StateStore, vitals: Vitals) -> StateStore:
    """Give a store of whose every call it is noted whether it was answered, and of what people ordered what it is."""
    return cast("StateStore", _WatchedStore(store, vitals))


class _WatchedStore:
    """Stands for each method of a store, whatever methods it has."""

    def __init__(self, store: StateStore, vitals: Vitals) -> None:
        self._store = store
        self._vitals = vitals

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Any] = getattr(self._store, name)

        @wraps(method)
        def noting(*args: Any, **kwargs: Any) -> Any:
            try:
                answer = method(*args, **kwargs)
            except ConflictError:
                self._vitals.asked_store(None)
                raise
            except Exception as error:
                self._vitals.asked_store(str(error) or type(error).__name__)
                raise
            self._vitals.asked_store(None)
            if isinstance(answer, StandingOrders):
                self._vitals.ordered(answer)
            return answer

        return noting


class WatchedSampleSink:
    """Notes how new a cluster's samples are, and which could not be kept."""

    def __init__(self, sink: SampleSink, cluster: str, vitals: Vitals) -> None:
        """Stand in front of the sink of `cluster`."""
        self._sink = sink
        self._cluster = cluster
        self._vitals = vitals

    def append(self, samples: Sequence[JobSample], /) -> None:
        """
        Keep samples as the sink behind does.

        Raises:
            TransientError: from the sink behind.
        """
        with self._vitals.keeping("samples"):
            self._sink.append(samples)
        self._vitals.sampled(self._cluster, max(sample.at for sample in samples))


class WatchedDecisionSink:
    """Measures how long a cycle's decisions take to be kept, and notes which were not."""

    def __init__(self, sink: DecisionSink, vitals: Vitals, phases: Phases) -> None:
        """Stand in front of a sink."""
        self._sink = sink
        self._vitals = vitals
        self._phases = phases

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """
        Keep decisions as the sink behind does.

        Raises:
            TransientError: from the sink behind.
        """
        with self._vitals.keeping("decisions"), self._phases.timed(Phase.KEEP):
            self._sink.append_decisions(decisions)


class WatchedCircumstanceSink:
    """Measures how long what a cycle's decisions depended on takes to be kept, and notes what was not."""

    def __init__(self, sink: CircumstanceSink, vitals: Vitals, phases: Phases) -> None:
        """Stand in front of a sink."""
        self._sink = sink
        self._vitals = vitals
        self._phases = phases

    def append_circumstances(self, circumstances: Sequence[Circumstances], /) -> None:
        """
        Keep circumstances as the sink behind does.

        Raises:
            TransientError: from the sink behind.
        """
        with self._vitals.keeping("circumstances"), self._phases.timed(Phase.KEEP):
            self._sink.append_circumstances(circumstances)


class WatchedEvaluator:
    """Measures evaluations, and notes which are under way."""

    def __init__(self, evaluator: FleetEvaluator, vitals: Vitals, phases: Phases) -> None:
        """Stand in front of an evaluator."""
        self._evaluator = evaluator
        self._vitals = vitals
        self._phases = phases

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """
        Evaluate as the evaluator behind does.

        Raises:
            TransientError: from the evaluator behind.
        """
        with self._vitals.evaluating(self), self._phases.timed(Phase.EVALUATE):
            return self._evaluator.evaluate(candidates, now)


class WatchedRealizer:
    """Measures the requests that are made of engines."""

    def __init__(self, realizer: ScalingRealizer, phases: Phases) -> None:
        """Stand in front of a realizer."""
        self._realizer = realizer
        self._phases = phases

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Ask as the realizer behind does; its errors are raised as they are."""
        with self._phases.timed(Phase.REALIZE):
            return await self._realizer.realize_parallelism_overrides(ctx, overrides)

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Ask as the realizer behind does; its errors are raised as they are."""
        with self._phases.timed(Phase.REALIZE):
            return await self._realizer.realize_config_overrides(ctx, changes)


class WatchedDecider:
    """Measures the decisions for jobs, plugins included."""

    def __init__(self, decider: Decider, phases: Phases) -> None:
        """Stand in front of a decider."""
        self._decider = decider
        self._phases = phases

    async def examine(self, ctx: JobContext, answer: Answer, now: datetime) -> Evidence | None:
        """Examine as the decider behind does."""
        with self._phases.timed(Phase.DECIDE):
            return await self._decider.examine(ctx, answer, now)

    async def decide(
        self, ctx: JobContext, sample: JobSample, answer: Answer, now: datetime, state: JobState
    ) -> Decision:
        """Decide as the decider behind does."""
        with self._phases.timed(Phase.DECIDE):
            return await self._decider.decide(ctx, sample, answer, now, state)

    async def review(self, ctx: JobContext, decision: Decision, chain: Chain) -> Decision:
        """Review as the decider behind does."""
        with self._phases.timed(Phase.DECIDE):
            return await self._decider.review(ctx, decision, chain)
