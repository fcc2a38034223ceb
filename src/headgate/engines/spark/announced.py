"""Batches that were planned and have not ended: what they say of the load is known early, where it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

from headgate.engines.spark.application import BegunBatch, RunningQuery
from headgate.model.micro_batch import MicroBatch

_CLOSE = 0.05
"""Share by which the rows that a batch read may differ from those between its offsets."""


class Announcements:
    """
    Holds what was announced against what came of it.

    Offsets are not rows everywhere: Kafka leaves some out, and a source that a query reads twice counts twice. A query
    is believed as long as its batches turn out as large as they were announced.
    """

    def __init__(self) -> None:
        """Believe nobody yet."""
        self._heard: dict[str, tuple[str, BegunBatch]] = {}
        """By query the run and the latest batch that it announced."""
        self._believed: set[str] = set()

    def hear(self, queries: Sequence[RunningQuery]) -> None:
        """Take in what queries announce."""
        for query in queries:
            if query.begun is not None:
                self._heard[query.query] = query.run_id, query.begun

    def compare(self, batch: MicroBatch) -> None:
        """Take in a batch that has ended."""
        run_id, begun = self._heard.get(batch.query, (None, None))
        if begun is None or (run_id, begun.batch_id) != (batch.run_id, batch.batch_id):
            return
        if isclose(begun.rows, batch.rows, rel_tol=_CLOSE):
            self._believed.add(batch.query)
        else:
            self._believed.discard(batch.query)

    def after(self, batch: MicroBatch) -> BegunBatch | None:
        """Give the batch that follows one, where it has begun and its query is believed."""
        run_id, begun = self._heard.get(batch.query, (None, None))
        follows = begun is not None and (run_id, begun.batch_id) == (batch.run_id, batch.batch_id + 1)
        return begun if follows and batch.query in self._believed else None
