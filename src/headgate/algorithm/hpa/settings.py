"""What whoever chooses the policy may set, and the policy that it makes of one job's options."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from headgate.algorithm.hpa.formula import Tolerance
from headgate.algorithm.hpa.policy import MINIMUM_LAG, Policy
from headgate.algorithm.hpa.stabilization import USUAL_SCALE_DOWN_S, Stabilization
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.units import format_duration

LEAST_TARGET = 0.001
"""The HPA counts in thousandths."""


class Scope(StrEnum):
    """Whose numbers decide for a vertex."""

    JOB = "job"
    """The whole job's: one ratio for all vertices, as in the paper."""
    VERTEX = "vertex"
    """Its own utilization, and the lag of the sources that it gets its records from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Defaults are the paper's and Kubernetes'."""

    scope: Scope = Scope.JOB
    window: timedelta = timedelta(minutes=1)
    """What slopes and averages are taken over."""
    lag_minimum: float = MINIMUM_LAG
    """Records up to which the lag has no say."""
    scale_up_tolerance: float = 0.1
    """How far above its target a metric may be without any growth, as a share of the target."""
    scale_down_tolerance: float = 0.1
    scale_up_stabilization_window: timedelta = timedelta()
    scale_down_stabilization_window: timedelta | None = None
    """None: Kubernetes' five minutes, or what the job's metric window leaves of them."""

    def policy(self, options: AutoscalerOptions) -> Policy:
        """
        Give the policy for a job.

        Raises:
            ValueError: its utilization target is none, or its metric window is too short for these windows.
        """
        if options.utilization_target < LEAST_TARGET:
            message = f"utilization.target is {options.utilization_target:g}; the policy needs one above 0"
            raise ValueError(message)
        return Policy(
            utilization_target=options.utilization_target,
            minimum_lag=self.lag_minimum,
            tolerance=Tolerance(scale_up=self.scale_up_tolerance, scale_down=self.scale_down_tolerance),
            stabilization=self._stabilization(options.metrics_window),
        )

    def _stabilization(self, metrics_window: timedelta) -> Stabilization:
        rest = max(timedelta(), metrics_window - self.window)
        up, down = self.scale_up_stabilization_window, self.scale_down_stabilization_window
        if down is None:
            down = min(timedelta(seconds=USUAL_SCALE_DOWN_S), rest)
        least = self.window + max(up, down)
        if metrics_window < least:
            message = (
                f"metrics.window is {format_duration(metrics_window)}, too short for a window and a stabilization "
                f"window behind it. Hint: set it to {format_duration(least)} or more"
            )
            raise ValueError(message)
        return Stabilization(scale_up_s=up.total_seconds(), scale_down_s=down.total_seconds())
