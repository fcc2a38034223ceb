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

    An announcement of no rows says nothing: a query looks like that between two batches as well, and when it finds
    nothing to do; and where no offset moved, any source tells the truth.
    """

    def __init__(self) -> None:
        """Believe nobody yet."""
        self._heard: dict[str, dict[int, BegunBatch]] = {}
        """By run and batch; the next batch has often begun when it is told that one has ended."""
        self._believed: set[str] = set()
        """Runs."""

    def hear(self, queries: Sequence[RunningQuery]) -> None:
        """Take in what queries announce; runs that are not among them have ended."""
        active = {query.run_id for query in queries}
        self._heard = {run: self._heard.get(run, {}) for run in active}
        self._believed &= active
        for query in queries:
            if query.begun is not None and query.begun.rows:
                self._heard[query.run_id][query.begun.batch_id] = query.begun

    def compare(self, batch: MicroBatch) -> None:
        """Take in a batch that has ended; what was announced of it and of those before it is needed no more."""
        heard = self._heard.get(batch.run_id)
        if heard is None:  # nobody listens to it: from outside, nothing is announced
            return
        begun = heard.get(batch.batch_id)
        self._heard[batch.run_id] = {number: later for number, later in heard.items() if number > batch.batch_id}
        if begun is None:
            return
        if isclose(begun.rows, batch.rows, rel_tol=_CLOSE):
            self._believed.add(batch.run_id)
        else:
            self._believed.discard(batch.run_id)

    def after(self, batch: MicroBatch) -> BegunBatch | None:
        """Give the batch that follows one of the same run, where it has begun and the run is believed."""
        begun = self._heard.get(batch.run_id, {}).get(batch.batch_id + 1)
        return begun if batch.run_id in self._believed else None
