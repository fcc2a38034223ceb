"""From progress reports to micro-batches: each gets the work of its stages and its query's settings."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate.engines.spark.application import QuerySettings, RunningQuery
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import BatchWork, Gateway
from headgate.engines.spark.progress import Circumstances, is_batch, read_batch
from headgate.engines.spark.stages import folded
from headgate.errors import TransientError
from headgate.model.micro_batch import MicroBatch

_PATIENCE = 3
"""Times that the driver is asked for what it knows of a batch until the batch counts without."""
_MOST = 20
"""Batches of a query that go on waiting; beyond them the oldest is left out, which shows as a gap in the batch ids."""

Progress = Mapping[str, Any]


class Batches:
    """Takes reports from a feed, or from the queries themselves where no listener fills it."""

    def __init__(self, gateway: Gateway, feed: ProgressFeed) -> None:
        """Take nothing yet."""
        self._gateway = gateway
        self._feed = feed
        self._waiting: dict[str, deque[Progress]] = {}
        self._asked: dict[str, int] = {}
        self._settings: dict[str, QuerySettings] = {}
        self._polled: dict[str, int] = {}

    def take(self, queries: Sequence[RunningQuery], *, cores: int) -> Sequence[MicroBatch]:
        """
        Give the batches of active queries that ended since the last time, in the order of their ends.

        One whose stages the driver has not written down yet waits for the next time, and those of its query after it do
        too; so does one about which the driver gave no usable answer.

        Args:
            queries: those active.
            cores: of the executors that are there.
        """
        active = {query.run_id for query in queries}
        self._forget_all_but(active)
        for progress in self._reported(queries):
            if progress["runId"] in active:
                self._waiting.setdefault(progress["runId"], deque()).append(progress)
        ready = [batch for run, waiting in self._waiting.items() for batch in self._ready(run, waiting, cores)]
        self._waiting = {run: deque([*waiting][-_MOST:]) for run, waiting in self._waiting.items()}
        return sorted(ready, key=lambda batch: batch.started_at + batch.duration)

    def _ready(self, run: str, waiting: deque[Progress], cores: int) -> Iterator[MicroBatch]:
        while waiting:
            self._asked[run] = self._asked.get(run, 0) + 1
            around = self._circumstances(waiting[0], cores)
            if around is None:
                return
            self._asked[run] = 0
            if batch := read_batch(waiting.popleft(), around):
                yield batch

    def _circumstances(self, progress: Progress, cores: int) -> Circumstances | None:
        """Give what is known around a batch; None while some is still to come."""
        run, is_last_time = progress["runId"], self._asked[progress["runId"]] >= _PATIENCE
        try:
            work = self._gateway.work(run, progress["batchId"])
            if run not in self._settings:
                self._settings[run] = self._gateway.settings(run)
        except TransientError:
            work = BatchWork(stages=(), complete=False)
        if not work.complete and not is_last_time:
            return None
        stages = folded(work.stages) if work.complete else ()
        return Circumstances(cores=cores, stages=stages, settings=self._settings.get(run, QuerySettings()))

    def _reported(self, queries: Sequence[RunningQuery]) -> Iterator[Progress]:
        unheard = [query for query in queries if query.foreign or not self._feed.is_fed]
        heard = self._feed.take() if self._feed.is_fed else ()
        for report in (*heard, *self._poll(unheard)):
            progress = _parsed(report)
            if progress and is_batch(progress):
                yield progress

    def _poll(self, queries: Sequence[RunningQuery]) -> Iterator[str]:
        for query in queries:
            for report in self._gateway.progress_since(query.run_id, self._polled.get(query.run_id, -1)):
                self._polled[query.run_id] = _parsed(report).get("batchId", -1)
                yield report

    def _forget_all_but(self, active: set[str]) -> None:
        for known in (self._waiting, self._asked, self._settings, self._polled):
            for run in known.keys() - active:
                del known[run]


def _parsed(report: str) -> Progress:
    """Read a report; one that cannot be read, or is of no query's batch, is empty."""
    try:
        progress = json.loads(report)
    except ValueError:
        return {}
    return progress if isinstance(progress, dict) and {"runId", "batchId"} <= progress.keys() else {}
