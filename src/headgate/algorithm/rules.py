"""Which of the deliberate deviations from the reference autoscaler hold for a job."""

from __future__ import annotations

from datetime import timedelta

from headgate.options.autoscaler import AutoscalerOptions, Reaction, ScalingSignal
from headgate.options.deviations import Deviation, Parity
from headgate.options.evaluators import stands_apart

Rules = frozenset[Deviation]
"""The deviations that hold."""

_LOOK_BACK = timedelta(minutes=15)
"""A short window is no reason to forget what the input was."""

HEADGATE: Rules = frozenset(Deviation)
PARITY: Rules = frozenset()


def is_fast(options: AutoscalerOptions) -> bool:
    """
    Tell whether the input of a job counts from its last change on.

    Never by parity, nor where its need does not follow from its input, nor where somebody else evaluates it.
    """
    by_rates = options.scaling_signal is ScalingSignal.DATA_RATE and not stands_apart(options)
    return options.reaction is Reaction.FAST and options.parity is Parity.CURRENT and by_rates


def reach(options: AutoscalerOptions) -> timedelta:
    """Give how far back samples of a job may count: its window, or what tells how much its input varies."""
    return max(options.metrics_window, _LOOK_BACK) if is_fast(options) else options.metrics_window


def rules_of(options: AutoscalerOptions) -> Rules:
    """Give the rules that hold for a job: none by parity, else all but those that its options switch off."""
    return PARITY if options.parity is Parity.REFERENCE else HEADGATE - set(options.deviations_off)
