"""What the policy reads of one vertex, as arrays over the ticks of its job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.algorithm.series import Counter, counter, gauge
from headgate.algorithm.stats import Floats
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.samples import JobSample


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Track:
    """What the policy reads of one vertex."""

    parallelism: int
    lag: Floats
    """Records; NaN at ticks at which it is not known."""
    read: Counter
    """Records read by all subtasks."""
    idle: Counter
    """Idle milliseconds of all subtasks."""
    samples: int
    """Ticks at which the vertex was measured."""


def track(vertex: VertexId, parallelism: int, samples: Sequence[JobSample]) -> Track:
    """Follow a vertex through the samples of its job, oldest first."""
    seen = [sample.vertices.get(vertex) for sample in samples]
    return Track(
        parallelism=parallelism,
        lag=gauge(seen, Measure.LAG),
        read=counter(seen, Measure.NUM_RECORDS_IN),
        idle=counter(seen, Measure.ACCUMULATED_IDLE_TIME),
        samples=sum(each is not None for each in seen),
    )
