"""A clock for leases whose holders have no clock in common: instants of this machine that only go on."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

# Where there is one, a clock that goes on while the machine sleeps.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SteadyClock:
    """Begins at the machine's time, and takes no part when somebody sets that."""

    def __init__(self) -> None:
        """Begin now."""
        self._began = datetime.now(UTC)
        self._began_s = time.clock_gettime(_CLOCK)

    def __call__(self) -> datetime:
        """Give the instant."""
        return self._began + timedelta(seconds=time.clock_gettime(_CLOCK) - self._began_s)
