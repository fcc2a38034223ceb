"""DS2's word count: from one instance each to what the rates say, in one step."""

from __future__ import annotations

from benchmarks.ds2.service import Operator
from benchmarks.ds2.trial import Job, Path, drive
from headgate.options.autoscaler import AutoscalerOptions

SENTENCES = 1e6
"""A minute, from the source."""
WORDS = 20
"""In a sentence."""

JOB: Job = {
    "source": Operator(target=SENTENCES, true_rate=lambda p: 1e6 * p),
    "flat map": Operator(target=SENTENCES, true_rate=lambda p: 1e5 * p),
    "count": Operator(target=WORDS * SENTENCES, true_rate=lambda p: 1e6 * p),
}
"""Rates are records a minute here, all of them, so that nothing but their unit changes."""


def path(options: AutoscalerOptions) -> Path:
    """Give the parallelisms of source, flat map and count, step by step."""
    return drive(JOB, dict.fromkeys(JOB, 1), options)
