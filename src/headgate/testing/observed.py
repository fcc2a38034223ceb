"""Follows a load job by Flink's own word: what ran at which parallelism, and how often that changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from headgate.demo.loadjob import LoadJobSpec
from headgate.demo.watch import Watcher


class ObservedJob:
    """
    One load job on a cluster, seen whenever it is looked at and all of its tasks run.

    Attributes:
        name: of the job.
        history: each parallelism by operator, in order, and when it was first seen.
        running: whether all of its tasks ran when it was last looked at.
        lag: records that waited in the source when it was last looked at.
    """

    def __init__(self, url: str, job_id: str, spec: LoadJobSpec) -> None:
        """Look at nothing yet."""
        self.name = spec.name
        self.job_id = job_id
        self.history: list[tuple[datetime, Mapping[str, int]]] = []
        self.running = False
        self.lag = 0.0
        self._watcher = Watcher(url, job_id, spec)

    def look(self) -> None:
        """Look once."""
        now = datetime.now(UTC)
        seen = self._watcher.look(now)
        self.running = seen is not None and seen.running
        if seen is None or not seen.running:
            return
        self.lag = seen.lag_records
        if not self.history or self.history[-1][1] != seen.parallelism:
            self.history.append((now, seen.parallelism))

    @property
    def parallelism(self) -> Mapping[str, int]:
        """What runs now; nothing before anything was seen."""
        return self.history[-1][1] if self.history else {}

    @property
    def changed_at(self) -> datetime:
        """When the present parallelism was first seen."""
        return self.history[-1][0] if self.history else datetime.max.replace(tzinfo=UTC)

    @property
    def rescales(self) -> int:
        """How often the running parallelism changed."""
        return max(0, len(self.history) - 1)
