"""The options of a service-level agreement: how far behind a job may be, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaOptions(Options):
    """What a job owes its users. Nothing is owed unless it is set."""

    max_lag_time: PositiveDuration | None = option("max-lag-time", None)
    """How old the oldest record that waits may be, also while a rescale stops the job."""

    recovery_time: PositiveDuration | None = option("recovery-time", None)
    """By when after a rescale its backlog, and what there was before, must be worked off."""

    @property
    def is_set(self) -> bool:
        """Tell whether anything is owed."""
        return self.max_lag_time is not None or self.recovery_time is not None


NOTHING_OWED = SlaOptions()
"""No agreement."""
