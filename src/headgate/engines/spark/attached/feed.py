"""What queries report, kept until somebody asks: queues that never block whoever fills them."""

from __future__ import annotations

from collections import deque

from headgate.engines.spark.attached.gateway import QueryFailure

_MOST = 1000
"""Reports that are kept; beyond them the oldest is lost, which shows as a gap in the batch ids."""


class ProgressFeed:
    """Progress reports as JSON, oldest first; filled by Spark's listener thread, emptied by another one."""

    def __init__(self, most: int = _MOST) -> None:
        """Hold nothing yet; `most` is how many reports and failures are kept."""
        self._reports: deque[str] = deque(maxlen=most)
        self._failures: deque[QueryFailure] = deque(maxlen=most)
        self.is_fed = False
        """Whether a listener fills it; otherwise queries must be asked."""

    def put(self, report: str) -> None:
        """Keep a report."""
        self._reports.append(report)

    def put_failure(self, failure: QueryFailure) -> None:
        """Keep a failure."""
        self._failures.append(failure)

    def take(self) -> list[str]:
        """Give the reports that have come since the last time."""
        return [self._reports.popleft() for _ in range(len(self._reports))]

    @property
    def failures(self) -> tuple[QueryFailure, ...]:
        """The latest queries that ended by an exception, oldest first."""
        return tuple(self._failures)
