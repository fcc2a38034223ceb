"""Who evaluates a job: the fleet's evaluator, or what its options name."""

from __future__ import annotations

from headgate.options.autoscaler import AutoscalerOptions

BUILT_IN = "ds2"
"""The evaluator that the fleet's evaluator is already."""


def stands_apart(options: AutoscalerOptions) -> bool:
    """Tell whether a job cannot go through the batch."""
    return bool(options.custom_evaluators) or is_own(options.evaluator)


def is_own(evaluator: str | None) -> bool:
    """Tell whether a name means another evaluator than the fleet's."""
    return evaluator is not None and evaluator != BUILT_IN
