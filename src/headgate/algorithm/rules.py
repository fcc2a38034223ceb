"""Which of the deliberate deviations from the reference autoscaler hold for a job."""

from __future__ import annotations

from headgate.options.autoscaler import AutoscalerOptions, Reaction, ScalingSignal
from headgate.options.deviations import Deviation, Parity
from headgate.options.evaluators import stands_apart

Rules = frozenset[Deviation]
"""The deviations that hold."""

HEADGATE: Rules = frozenset(Deviation)
PARITY: Rules = frozenset()


def is_fast(options: AutoscalerOptions) -> bool:
    """
    Tell whether the input of a job counts from its last change on.

    Never by parity, nor where its need does not follow from its input, nor where somebody else evaluates it.
    """
    by_rates = options.scaling_signal is ScalingSignal.DATA_RATE and not stands_apart(options)
    return options.reaction is Reaction.FAST and options.parity is Parity.CURRENT and by_rates


def rules_of(options: AutoscalerOptions) -> Rules:
    """Give the rules that hold for a job: none by parity, else all but those that its options switch off."""
    return PARITY if options.parity is Parity.REFERENCE else HEADGATE - set(options.deviations_off)
