"""The ports of plugins that run in a worker process: each method is a call there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from headgate.model.decision import Decision
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.plugins.asking import Asking
from headgate.plugins.kinds import Kind
from headgate.ports import (
    AlignmentQuestion,
    AvailableResources,
    Change,
    CollectedMetrics,
    JobContext,
    Unrecoverable,
    VertexQuestion,
)


class Aside(Protocol):
    """Does what blocks in a thread."""

    def __call__(self, call: Callable[[], Any], /) -> Awaitable[Any]:
        """Give what the call gives."""


class HostedCollector:
    """A `ports.MetricCollector` in a worker process."""

    def __init__(self, asking: Asking, aside: Aside) -> None:
        """Ask in threads of `aside`."""
        self._asking = asking
        self._aside = aside

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job."""
        sample: JobSample = await self._ask("update_metrics", ctx, at)
        return sample

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs."""
        topology: Topology = await self._ask("query_topology", ctx)
        return topology

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the metrics of the JobManager."""
        metrics: Mapping[str, float] = await self._ask("query_jm_metrics", ctx)
        return metrics

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give the metrics of the TaskManagers."""
        metrics: Mapping[str, Aggregate] = await self._ask("query_tm_metrics", ctx)
        return metrics

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Give signals that the engine does not have."""
        signals: Mapping[str, Signal] = await self._ask("query_external_metrics", ctx)
        return signals

    async def drop(self, job: JobKey, /) -> None:
        """Forget a job, as the port's `forget` does, which cannot wait."""
        await self._ask("forget", job)

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of the job, waiting for the answer."""
        self._asking.ask("forget", job)

    async def _ask(self, method: str, *arguments: Any) -> Any:
        return await self._aside(partial(self._asking.ask, method, *arguments))


class HostedEvaluator:
    """A `ports.MetricEvaluator` in a worker process."""

    def __init__(self, asking: Asking) -> None:
        """Ask there."""
        self._asking = asking

    def evaluate(
        self, conf: AutoscalerOptions, collected: CollectedMetrics, restart_time: timedelta, /
    ) -> EvaluatedMetrics | NotReady:
        """Give the job's metrics."""
        metrics: EvaluatedMetrics | NotReady = self._asking.ask("evaluate", conf, collected, restart_time)
        return metrics


class HostedEvaluatorPlugin:
    """A `ports.EvaluatorPlugin` in a worker process."""

    def __init__(self, asking: Asking) -> None:
        """Ask there."""
        self._asking = asking

    def override(self, conf: AutoscalerOptions, question: VertexQuestion, /) -> Mapping[ScalingMetric, float]:
        """Give the metrics that it replaces."""
        replaced: Mapping[ScalingMetric, float] = self._asking.ask("override", conf, question)
        return replaced


class HostedDecisionPlugin:
    """A `ports.DecisionPlugin` in a worker process."""

    priority = 0

    def __init__(self, asking: Asking) -> None:
        """Ask there."""
        self._asking = asking

    def decide(self, ctx: JobContext, decision: Decision, change: Change, /) -> Change | None:
        """Give the change as it should be made."""
        travelling = replace(decision, evaluated=apart(decision.evaluated))
        answer: Change | None = self._asking.ask("decide", ctx, travelling, change)
        return answer


class HostedAlignmentMode:
    """A `ports.AlignmentMode` in a worker process."""

    def __init__(self, asking: Asking) -> None:
        """Ask there."""
        self._asking = asking

    def is_applicable(self, question: AlignmentQuestion, /) -> bool:
        """Tell whether the vertex is aligned at all."""
        answer: bool = self._asking.ask("is_applicable", question)
        return answer

    def align(self, question: AlignmentQuestion, /) -> int:
        """Give the aligned parallelism."""
        answer: int = self._asking.ask("align", question)
        return answer


class HostedChecker:
    """A `ports.UnrecoverableErrorChecker` in a worker process."""

    def __init__(self, asking: Asking) -> None:
        """Ask there."""
        self._asking = asking

    def check(self, ctx: JobContext, evaluated: EvaluatedMetrics | None, /) -> bool | Unrecoverable:
        """Tell whether the job is beyond recovery."""
        answer: bool | Unrecoverable = self._asking.ask("check", ctx, apart(evaluated))
        return answer


class HostedScalingPolicy:
    """A `ports.ScalingPolicy` in a worker process."""

    def __init__(self, asking: Asking) -> None:
        """Ask there."""
        self._asking = asking

    def decide(
        self, ctx: JobContext, resources: AvailableResources, topology: Topology, configured: Mapping[VertexId, int], /
    ) -> Mapping[VertexId, int]:
        """Give the parallelism of each vertex."""
        answer: Mapping[VertexId, int] = self._asking.ask("decide", ctx, resources, topology, configured)
        return answer


HOSTED: Mapping[Kind, Callable[[Asking], Any]] = {
    Kind.METRIC_EVALUATOR: HostedEvaluator,
    Kind.EVALUATOR_PLUGIN: HostedEvaluatorPlugin,
    Kind.DECISION_PLUGIN: HostedDecisionPlugin,
    Kind.ALIGNMENT_MODE: HostedAlignmentMode,
    Kind.UNRECOVERABLE_ERROR_CHECKER: HostedChecker,
    Kind.SCALING_POLICY: HostedScalingPolicy,
}
"""Of each isolated kind that is asked while jobs are evaluated and decided."""


def apart(evaluated: EvaluatedMetrics | None) -> EvaluatedMetrics | None:
    """Give metrics that hold nothing of other jobs: they may be views of the arrays of the whole fleet."""
    return None if evaluated is None else replace(evaluated, vertices=dict(evaluated.vertices.items()))
