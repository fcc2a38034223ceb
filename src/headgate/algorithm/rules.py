"""Which of the deliberate deviations from the reference autoscaler hold for a job."""

from __future__ import annotations

from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation, Parity

Rules = frozenset[Deviation]
"""The deviations that hold."""

HEADGATE: Rules = frozenset(Deviation)
PARITY: Rules = frozenset()


def rules_of(options: AutoscalerOptions) -> Rules:
    """Give the rules that hold for a job: none by parity, else all but those that its options switch off."""
    return PARITY if options.parity is Parity.REFERENCE else HEADGATE - set(options.deviations_off)
