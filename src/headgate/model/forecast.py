"""What a decision is expected to cost: how long the job stands still, how far behind that leaves it, what it saves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta

from headgate.model.downtime import Downtime


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What becomes of a job that owes its users something; all of it at the upper end of what is predicted."""

    downtime: Downtime
    """Of a rescale, whether there is one or not."""
    rescales: bool
    """Whether it is for the rescale; else for going on as the job runs."""
    lag_time_s: float
    """Age of the oldest record that waits now; 0 where no source tells its lag."""
    recovery_s: float
    """How long it takes to work off what waits, from the end of the downtime on; infinite without spare capacity."""
    max_lag_time: timedelta | None
    """As agreed; None where nothing is."""
    recovery_time: timedelta | None
    """As agreed; None where nothing is."""
    lag_known: bool = True
    """Whether any source tells its lag; else all of it is the least that it can be."""

    @property
    def peak_lag_time_s(self) -> float:
        """Age of the oldest record that will have waited, at the end of the downtime."""
        return self.lag_time_s + (self.downtime.high.total_seconds() if self.rescales else 0.0)

    @property
    def breaks(self) -> bool:
        """Tell whether it breaks what is agreed: too late, never level again, or too far behind."""
        agreed = self.recovery_time
        late = math.isinf(self.recovery_s) if agreed is None else self.recovery_s > agreed.total_seconds()
        return late or (self.max_lag_time is not None and self.peak_lag_time_s > self.max_lag_time.total_seconds())


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a rescale costs and what it saves, both in subtask-seconds."""

    downtime_s: float
    """How long all subtasks stand still."""
    cost_s: float
    saved_s: float
    """Within the horizon; below 0 for growth."""
    horizon: timedelta
    stops: bool = True
    """Whether the job stands still for the downtime; else it runs on, and is late by so much."""
