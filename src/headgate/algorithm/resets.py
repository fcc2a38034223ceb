"""
The one meaning of a counter reset: it raises the epoch of a vertex, and differences are taken within an epoch only.

Whatever reads samples (the windows on Spark and in memory, the HPA's policy, arrivals, micro-batches) compares epochs
and looks at no value for it, so that all agree and a window is reduced without putting its samples in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, VertexSample

_RECORDS = (Measure.NUM_RECORDS_IN, Measure.NUM_RECORDS_OUT, Measure.ARRIVED)
_TIMES = (
    Measure.ACCUMULATED_BUSY_TIME,
    Measure.ACCUMULATED_IDLE_TIME,
    Measure.ACCUMULATED_BACKPRESSURED_TIME,
)

Values = Mapping[Measure, float]


def was_reset(before: Values, now: Values) -> bool:
    """
    Tell from two measurements of a vertex or a subtask whether a counter began anew between them: whether one fell.

    The three times are looked at as their sum only. Flink books idle time when it ends and takes busy time as the rest,
    so the busy time of a nearly idle vertex falls by some milliseconds again and again.
    """
    return any(_fell(before.get(each), now.get(each)) for each in _RECORDS) or _fell(ran_ms(before), ran_ms(now))


def ran_ms(values: Values) -> float | None:
    """
    Return the time that all subtasks together have run; None where one of its parts is unknown.

    Each is busy, idle or back-pressured at any instant.
    """
    known = [values[each] for each in _TIMES if each in values]
    return sum(known) if len(known) == len(_TIMES) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    job_id: str
    latest: VertexSample
    """As its collector gave it, with the last value of each counter, also of one that it left out."""
    raised: int = 0
    """Resets so far of which the collector did not tell."""


class Epochs:
    """
    Raises the epoch where a counter was reset and the collector did not tell, so that none falls within an epoch.

    A collector that tells of its resets is left as it is.
    """

    def __init__(self) -> None:
        """Know of no vertex yet."""
        self._known: dict[JobKey, Mapping[VertexId, _Known]] = {}

    def marked(self, sample: JobSample) -> JobSample:
        """Return a job's newest sample, its epochs raised where that is missing."""
        before = self._known.get(sample.job, {})
        now = {vertex: _following(before.get(vertex), sample.job_id, seen) for vertex, seen in sample.vertices.items()}
        known = {**before, **now}
        self._known[sample.job] = {vertex: known[vertex] for vertex in sample.topology.by_id if vertex in known}
        if not any(each.raised for each in now.values()):
            return sample
        vertices = {
            vertex: replace(seen, epoch=seen.epoch + now[vertex].raised) for vertex, seen in sample.vertices.items()
        }
        return replace(sample, vertices=vertices)

    def forget(self, job: JobKey) -> None:
        """Forget a job that is gone."""
        self._known.pop(job, None)


def _following(known: _Known | None, job_id: str, now: VertexSample) -> _Known:
    if known is None:
        return _Known(job_id=job_id, latest=now)
    before = known.latest
    if now.epoch != before.epoch:
        return _Known(job_id=job_id, latest=now, raised=known.raised)
    # What is told again of the same instant, as of a micro-batch at its begin and at its end, replaces what was told.
    restated = now.measured_at == before.measured_at
    reset = job_id != known.job_id or (not restated and was_reset(before.values, now.values))
    values = now.values if reset else {**before.values, **now.values}
    return _Known(job_id=job_id, latest=replace(now, values=values), raised=known.raised + reset)


def _fell(before: float | None, now: float | None) -> bool:
    return before is not None and now is not None and now < before
