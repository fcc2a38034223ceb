"""
How a query was started, guessed from its batches: an event log does not tell.

Whoever waits for a trigger begins at even distances, at multiples of them since 1970 (Spark's
`ProcessingTimeExecutor`); a batch that was planned with more rows in sight than it took was
held back by its limit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from headgate.engines.spark.application import QuerySettings
from headgate.model.lag import LagOrigin
from headgate.model.micro_batch import MicroBatch

_WAITS = 3
"""Waits for a trigger from which on the distance between two is believed."""
_REMEMBERED = 9
_WAITED = timedelta(milliseconds=50)
_EVEN = 0.1
"""By how much distances may differ from their median, as a share of it."""
_GRAIN = timedelta(milliseconds=100)
_LATE = timedelta(milliseconds=100)
"""How long after its trigger a batch may begin."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HELD_BACK = 0.1
"""Rows left over, as a share of those taken: sources look at their head again a moment after a batch is planned."""


@dataclass(slots=True, kw_only=True)
class QueryGuesses:
    """What one query's batches have told of it."""

    interval: timedelta | None = None
    limit: int | None = None
    _gaps: deque[timedelta] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    _latest: MicroBatch | None = None

    @property
    def settings(self) -> QuerySettings:
        """What is believed by now; that a batch takes all there is never is, as its limit may be one of files."""
        return QuerySettings(interval=self.interval, row_limit=self.limit, takes_all=False)

    def note(self, batch: MicroBatch) -> None:
        """Take in the next batch of the query; another run may have been started otherwise."""
        before, self._latest = self._latest, batch
        if before is not None and before.run_id != batch.run_id:
            self._gaps.clear()
            self.interval = self.limit = before = None
        if batch.lag_origin is LagOrigin.OFFSETS and batch.lag and batch.lag > _HELD_BACK * batch.rows > 0:
            self.limit = batch.rows
        if before is not None:
            self._note_gap(before, batch)

    def _note_gap(self, before: MicroBatch, batch: MicroBatch) -> None:
        gap = batch.started_at - before.started_at
        if batch.batch_id == before.batch_id + 1 and gap > before.duration + _WAITED:
            self._gaps.append(gap)
            even = _even(self._gaps)
            if even and (batch.started_at - _EPOCH) % even <= _LATE:
                self.interval = even


def _even(gaps: Iterable[timedelta]) -> timedelta | None:
    """Give the distance that all have, but for one or two triggers that were passed over."""
    known = sorted(gaps)
    middle = known[len(known) // 2]
    alike = [gap for gap in known if abs(gap - middle) <= _EVEN * middle]
    if len(alike) < _WAITS or 2 * len(alike) <= len(known):
        return None
    return round(middle / _GRAIN) * _GRAIN
