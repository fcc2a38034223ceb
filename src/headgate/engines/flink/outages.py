"""
Whether a source is cut off from what it reads: then it reads nothing, and that is no idle hour.

Flink itself fails nothing while Kafka's brokers are away. The job runs, its connector says that nothing waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.model.lag import Outage

_LONGEST_AFTER = timedelta(seconds=10)


@dataclass(slots=True, kw_only=True)
class OutageMemory:
    """The outage of a source, if it has one."""

    kind: Outage | None = None
    _since: datetime | None = None
    _until: datetime | None = None
    """When all that was held up has come in at the latest; None while it lasts."""

    @property
    def lasts(self) -> bool:
        """Whether it is not over, what follows it left aside."""
        return self.kind is not None and self._until is None

    def note(self, outage: Outage | None, at: datetime) -> bool:
        """
        Note how it is at an instant, and tell whether an outage has just ended.

        It counts for a while longer: whoever writes has held records back, and brings them all at once.
        """
        if outage is not None:
            self.kind, self._since, self._until = outage, self._since or at, None
            return False
        if self._since is None:
            return False
        self._until = self._until or at + min(at - self._since, _LONGEST_AFTER)
        if at < self._until:
            return False
        self.kind = self._since = self._until = None
        return True
