"""What a vertex has counted since its tasks started, summed over the subtasks, and when counters have started anew."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.algorithm.resets import ran_ms, was_reset
from headgate.model.measures import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Counters of one vertex; times in milliseconds. None is unknown: legacy sources have no busy time."""

    records_in: float | None = None
    records_out: float | None = None
    busy_ms: float | None = None
    idle_ms: float | None = None
    backpressured_ms: float | None = None
    least_idle_ms: float | None = None
    """Idle time of the subtask that idled least; no measure of its own."""

    @property
    def total_ms(self) -> float | None:
        """Time that all subtasks together have run."""
        return ran_ms(self.values())

    def fell_since(self, before: Counters) -> bool:
        """Tell whether a counter was reset."""
        return was_reset(before.values(), self.values())

    def values(self) -> dict[Measure, float]:
        """Give what is known as measures."""
        known = {
            Measure.NUM_RECORDS_IN: self.records_in,
            Measure.NUM_RECORDS_OUT: self.records_out,
            Measure.ACCUMULATED_BUSY_TIME: self.busy_ms,
            Measure.ACCUMULATED_IDLE_TIME: self.idle_ms,
            Measure.ACCUMULATED_BACKPRESSURED_TIME: self.backpressured_ms,
        }
        return {measure: value for measure, value in known.items() if value is not None}


def share(part: float | None, before: float | None, total_ms: float | None) -> float | None:
    """Give the share of `total_ms` by which a time counter grew, 0 to 1; None when something is unknown."""
    if part is None or before is None or not total_ms or total_ms < 0:
        return None
    return min(max((part - before) / total_ms, 0.0), 1.0)


def difference(now: float | None, before: float | None) -> float | None:
    """Give how much a counter grew; None when one end is unknown."""
    return None if now is None or before is None else now - before
