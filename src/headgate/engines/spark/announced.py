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

    Offsets are not rows everywhere: Kafka leaves some out, and a source that a query reads twice counts twice. A run of
    a query is believed as long as its batches turn out as large as they were announced.

    Nothing is an announcement of no rows: such is how a query looks between two batches as well, and when it finds
    nothing to do; and where no offset moved any source tells the truth.
    """

    def __init__(self) -> None:
        """Believe nobody yet."""
        self._heard: dict[str, BegunBatch] = {}
        """By run the latest batch that it announced."""
        self._believed: set[str] = set()
        """Runs."""

    def hear(self, queries: Sequence[RunningQuery]) -> None:
        """Take in what queries announce; runs that are not among them have ended."""
        active = {query.run_id for query in queries}
        told = {query.run_id: query.begun for query in queries if query.begun is not None and query.begun.rows}
        self._heard = {run: begun for run, begun in (self._heard | told).items() if run in active}
        self._believed &= active

    def compare(self, batch: MicroBatch) -> None:
        """Take in a batch that has ended."""
        begun = self._heard.get(batch.run_id)
        if begun is None or begun.batch_id != batch.batch_id:
            return
        if isclose(begun.rows, batch.rows, rel_tol=_CLOSE):
            self._believed.add(batch.run_id)
        else:
            self._believed.discard(batch.run_id)

    def after(self, batch: MicroBatch) -> BegunBatch | None:
        """Give the batch that follows one of the same run, where it has begun and the run is believed."""
        begun = self._heard.get(batch.run_id)
        follows = begun is not None and begun.batch_id == batch.batch_id + 1
        return begun if follows and batch.run_id in self._believed else None
