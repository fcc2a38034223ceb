"""The built-in evaluator for one job, behind the port: what an evaluator of one's own may begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.units import parse_duration
from headgate.pipeline.evaluation import Question
from headgate.pipeline.in_process import evaluated_over
from headgate.ports import Candidate, CollectedMetrics


class BuiltInMetricEvaluator:
    """
    A `ports.MetricEvaluator` with the numbers of the fleet's evaluator.

    It lacks what only Headgate's state knows: the last growth of each vertex.
    """

    def __init__(self, parameters: Mapping[str, str], /) -> None:
        """
        Take the parameter `collect-interval`, a duration; without it the samples tell.

        Raises:
            ValueError: it is none.
        """
        written = parameters.get("collect-interval")
        self._interval = None if written is None else parse_duration(written)

    def evaluate(
        self, conf: AutoscalerOptions, collected: CollectedMetrics, restart_time: timedelta, /
    ) -> EvaluatedMetrics | NotReady:
        """Evaluate the job over its samples."""
        if not collected.samples:
            return NotReady(reason=Reason.NO_SAMPLES, message="no sample was taken yet")
        latest = replace(collected.samples[-1], topology=collected.topology)
        options = replace(conf, restart_time=restart_time)
        candidate = Candidate(sample=latest, options=options, window_from=collected.samples[0].at)
        interval = self._interval or _interval(collected.samples)
        question = Question(candidates=[candidate], now=latest.at, collect_interval=interval)
        samples = [replace(sample, topology=collected.topology) for sample in collected.samples]
        return evaluated_over(samples, question)[latest.job]


def _interval(samples: Sequence[JobSample]) -> timedelta:
    """Give the least time between two samples: none is ever early, some are late."""
    return min((after.at - before.at for before, after in pairwise(samples)), default=timedelta(seconds=10))
