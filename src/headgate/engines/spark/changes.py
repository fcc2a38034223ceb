"""What it costs when executors come or go: which batches that slows down, and by how much."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta

from headgate.engines.spark.application import Executors, RunningQuery
from headgate.model.micro_batch import MicroBatch

_REMEMBERED = 20
"""Changes of executors that are held against batches; reports of batches come late, but not later than that."""


class Changes:
    """Remembers when executors changed, and what became of the batches since."""

    def __init__(self) -> None:
        """Know of no change yet."""
        self._at: deque[datetime] = deque(maxlen=_REMEMBERED)
        self._settled: dict[str, datetime] = {}
        self._lost: dict[str, timedelta] = {}

    @property
    def lost(self) -> timedelta | None:
        """By how much the query hit worst fell behind since the latest change; None while that is unknown."""
        return max(self._lost.values(), default=None)

    def warms(self, batch: MicroBatch, before: MicroBatch | None, executors: Executors) -> bool:
        """
        Tell whether a batch has to load code and state: executors changed since the one before it began.

        That makes it true of a batch that a change fell into, and of the first after it. The first batch of a query
        is like them.
        """
        self._see(executors)
        if before is None or before.run_id != batch.run_id:
            return True
        return any(before.started_at < change <= ended_at(batch) for change in self._at)

    def note(self, batch: MicroBatch, predicted: timedelta | None) -> None:
        """Take in a batch of which is told whether it was warming, and how long it should have taken."""
        change = self._at[-1]
        if ended_at(batch) < change:
            return
        if batch.warming and predicted is not None and batch.query not in self._settled:
            excess = max(timedelta(), batch.duration - predicted)
            self._lost[batch.query] = self._lost.get(batch.query, timedelta()) + excess
        if batch.started_at >= change:
            self._settled.setdefault(batch.query, ended_at(batch))

    def settled_at(
        self, executors: Executors, queries: Sequence[RunningQuery], at: datetime, *, patience: timedelta
    ) -> datetime:
        """
        Give when each query had ended its first batch on the executors that are there; `at` while one has not.

        A batch that takes longer than the patience since the change is waited for no more.
        """
        self._see(executors)
        unsettled = [query for query in queries if query.query not in self._settled]
        under_way = [at for query in unsettled if not query.waiting]
        ends = [self._settled[query.query] for query in queries if query.query in self._settled]
        settled_at = max([executors.changed_at, *ends, *under_way])
        return min(settled_at, executors.changed_at + patience)

    def _see(self, executors: Executors) -> None:
        if not self._at or executors.changed_at > self._at[-1]:
            self._at.append(executors.changed_at)
            self._settled.clear()
            self._lost.clear()


def ended_at(batch: MicroBatch) -> datetime:
    """Give when a batch was committed."""
    return batch.started_at + batch.duration
