"""The options of a service-level agreement: how far behind a job may be, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaOptions(Options):
    """What a job owes its users. Nothing is owed unless it is set."""

    max_lag_time: PositiveDuration | None = option("max-lag-time", None)
    """
    How old the oldest record that waits may be, also while a rescale stops the job. Once it is older, or the job cannot
    keep up, the job grows until it is level again within `sla.recovery-time`; within this time where that is unset.
    """

    recovery_time: PositiveDuration | None = option("recovery-time", None)
    """By when after a rescale its backlog, and what there was before, must be worked off."""

    @property
    def is_set(self) -> bool:
        """Tell whether anything is owed."""
        return self.within is not None

    @property
    def within(self) -> timedelta | None:
        """By when a backlog must be worked off; None where nothing is owed."""
        return self.recovery_time or self.max_lag_time
