"""
What a job's vertices are known to be able to do from before their last rescale: no restart changes that.

Right after one, the few samples of the new layout tell little, and those of a program that is not warm tell it wrong.
What was expected of the rescale stands beside them, and fades as they get more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import numpy as np

from headgate.algorithm.batch import Batch
from headgate.algorithm.history import newest_scalings
from headgate.algorithm.rates import ieee
from headgate.algorithm.stats import Floats
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.metrics import ScalingMetric
from headgate.model.state import ScalingRecord

Expected = tuple[float, float]
"""A true rate, records/s, and how many samples it is worth."""

_WORTH = 6.0
"""Samples that an expectation is worth when the job starts to run."""

_FADES = timedelta(minutes=10)
"""Until it is worth nothing."""


def expected_rates(
    history: Sequence[ScalingRecord], running: Mapping[VertexId, int], running_for: timedelta
) -> Mapping[VertexId, Expected]:
    """
    Give what was expected of the newest rescale of each vertex, if it led to the running parallelism.

    Args:
        history: rescales of the job, oldest first.
        running: parallelism of every vertex.
        running_for: how long the job has been running so.
    """
    worth = _WORTH * (1 - running_for / _FADES)
    if worth <= 0:
        return {}
    return {
        vertex: (last.rate(ScalingMetric.EXPECTED_PROCESSING_RATE), worth)
        for vertex, last in newest_scalings(history).items()
        if last.after == running.get(vertex)
    }


@ieee
def with_experience(measured: Floats, batch: Batch) -> Floats:
    """
    Give the true rate as measured and as expected, each weighed by its samples; as measured where nothing is expected.

    Source: the mean of two estimates whose variances fall with what is behind each.
    """
    samples = batch.windows[Measure.NUM_RECORDS_IN].count
    known = np.isfinite(batch.expected) & np.isfinite(measured)
    both = (samples * measured + batch.worth * batch.expected) / np.maximum(samples + batch.worth, 1)
    return np.where(known, both, measured)
