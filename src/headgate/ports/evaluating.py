"""From samples to evaluated metrics: of all jobs at once, or of one by an evaluator of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics, NotReady, ScalingMetric
from headgate.model.samples import JobSample
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A job to be evaluated: its latest sample and what bounds its window."""

    sample: JobSample
    options: AutoscalerOptions
    window_from: datetime
    """First instant that counts: the window's begin, or the end of stabilization if that is later."""
    arrivals_from: datetime | None = None
    """From when on what comes into the sources is looked at, to find where it changed last; None: not at all."""
    growths: Mapping[VertexId, tuple[float, float]] = field(default_factory=dict)
    """Of each vertex whose newest rescale was a growth to what runs: true rate before and as expected, records/s."""

    expected: Mapping[VertexId, tuple[float, float]] = field(default_factory=dict)
    """Of each vertex that was rescaled lately: the true rate expected of that, records/s, and its worth in samples."""

    @property
    def looks_from(self) -> datetime:
        """First instant of which anything is read."""
        return self.window_from if self.arrivals_from is None else min(self.window_from, self.arrivals_from)

    @property
    def window_until(self) -> datetime:
        """Last instant that counts: of samples that come while a cycle is under way nobody knows which it will see."""
        return self.sample.at


class FleetEvaluator(Protocol):
    """Reduces the windows of many jobs and evaluates them, all in one go."""

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """
        Evaluate every candidate over `[window_from, window_until]`; each gets an answer.

        Blocking: call it in a thread. The same samples give the same answer in whatever batch, order or file they come.

        Raises:
            TransientError: the log or the Spark cluster could not be used; nothing was evaluated.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedMetrics:
    """What was collected of one job over its metric window."""

    topology: Topology
    """As it runs now."""
    samples: tuple[JobSample, ...]
    """Oldest first, the newest one at least; of older ones only vertices, signals and job-wide values are known."""


class MetricEvaluator(Protocol):
    """
    Evaluates one job in its own way, in place of the built-in evaluator; selected by `metric.evaluator.class`.

    What it gives is checked: of vertices that the job does not have nothing is taken, a number that is none counts as
    unknown, and every rule of deciding comes after it.
    """

    def evaluate(
        self, conf: AutoscalerOptions, collected: CollectedMetrics, restart_time: timedelta, /
    ) -> EvaluatedMetrics | NotReady:
        """Give the job's metrics; `restart_time` is how long a rescale is expected to stop the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexQuestion:
    """One vertex, evaluated, before what lies behind it is."""

    vertex: Vertex
    metrics: Mapping[ScalingMetric, float]
    """As evaluated so far, thresholds included; what is unknown is absent."""
    upstream: Mapping[VertexId, Mapping[ScalingMetric, float]]
    """The vertices evaluated before, with what replaced their metrics."""
    collected: CollectedMetrics


class EvaluatorPlugin(Protocol):
    """Knows some metrics of a vertex better (FLIP-514); a chain, the last word has the last one."""

    def override(self, conf: AutoscalerOptions, question: VertexQuestion, /) -> Mapping[ScalingMetric, float]:
        """Give the metrics that it replaces; NaN replaces nothing."""


class DowntimeModel(Protocol):
    """Knows how long a rescale will stop a job, from rescales that were observed."""

    def predict(self, sample: JobSample, /, *, redeploy: bool) -> Downtime | None:
        """
        Predict for a job as it is now; None where nothing was seen that says anything. Quick, and never blocks.

        Args:
            sample: the job's latest.
            redeploy: whether it would be stopped and started anew, and not rescaled in place.
        """
