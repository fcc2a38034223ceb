"""Tells a job that stands still from one that is slow."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.measures import JobStatus
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.ports import JobContext, Unrecoverable

_IDLE = 0.01
"""Load below which a vertex does nothing."""


class StandstillChecker:
    """A job that runs, has a backlog, and idles all the same. Implements `headgate.ports.UnrecoverableErrorChecker`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Take `lag`, the least backlog of a vertex in records that counts.

        Raises:
            ValueError: it is no number.
        """
        self._lag = float(parameters.get("lag", "1000"))

    def check(self, ctx: JobContext, evaluated: EvaluatedMetrics | None, /) -> bool | Unrecoverable:
        """Look at every vertex that has a lag."""
        if ctx.status is not JobStatus.RUNNING or evaluated is None:
            return False
        for vertex, one in evaluated.vertices.items():
            lag = one.metrics.get(ScalingMetric.LAG, 0.0)
            load = one.metrics.get(ScalingMetric.LOAD)
            if load is not None and load < _IDLE and lag >= self._lag:
                return Unrecoverable(evidence=f"{vertex} idles (load {load:.2f}) with {lag:.0f} records waiting")
        return False
