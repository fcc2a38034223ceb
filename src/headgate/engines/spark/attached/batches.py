"""From progress reports to micro-batches: each gets the work of its stages and its query's settings."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate.engines.spark.application import QuerySettings, RunningQuery, StageRun
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import Gateway
from headgate.engines.spark.progress import Circumstances, is_batch, read_batch
from headgate.engines.spark.stages import folded
from headgate.model.micro_batch import MicroBatch

_PATIENCE = 3
"""Times that the driver is asked for a batch's stages until it counts without them."""

Progress = Mapping[str, Any]


class Batches:
    """Takes reports from a feed, or from the queries themselves where no listener fills it."""

    def __init__(self, gateway: Gateway, feed: ProgressFeed) -> None:
        """Take nothing yet."""
        self._gateway = gateway
        self._feed = feed
        self._waiting: deque[Progress] = deque()
        self._asked = 0
        self._settings: dict[str, QuerySettings] = {}
        self._polled: dict[str, int] = {}

    def take(self, queries: Sequence[RunningQuery], *, cores: int) -> Iterator[MicroBatch]:
        """
        Give the batches of active queries that ended since the last time, in their order.

        One whose stages the driver has not written down yet waits for the next time, and those after it do too.

        Args:
            queries: those active.
            cores: of the executors that are there.
        """
        active = {query.run_id for query in queries}
        self._forget_all_but(active)
        reported = (*self._waiting, *self._reported(queries))
        self._waiting = deque(progress for progress in reported if progress["runId"] in active)
        while self._waiting:
            progress = self._waiting[0]
            stages = self._stages(progress)
            if stages is None:
                return
            batch = self._batch(progress, stages, cores)
            self._waiting.popleft()
            if batch:
                yield batch

    def _reported(self, queries: Sequence[RunningQuery]) -> Iterator[Progress]:
        reports = self._feed.take() if self._feed.is_fed else self._poll(queries)
        for report in reports:
            progress = _parsed(report)
            if progress and is_batch(progress):
                yield progress

    def _poll(self, queries: Sequence[RunningQuery]) -> Iterator[str]:
        for query in queries:
            for report in self._gateway.progress_since(query.run_id, self._polled.get(query.run_id, -1)):
                self._polled[query.run_id] = _parsed(report).get("batchId", -1)
                yield report

    def _stages(self, progress: Progress) -> tuple[StageRun, ...] | None:
        """Give the stages of a batch; None while some are still to come."""
        work = self._gateway.work(progress["runId"], progress["batchId"])
        self._asked += 1
        if not work.complete and self._asked < _PATIENCE:
            return None
        self._asked = 0
        return work.stages if work.complete else ()

    def _batch(self, progress: Progress, stages: tuple[StageRun, ...], cores: int) -> MicroBatch | None:
        run = progress["runId"]
        if run not in self._settings:
            self._settings[run] = self._gateway.settings(run)
        around = Circumstances(cores=cores, stages=folded(stages), settings=self._settings[run])
        return read_batch(progress, around)

    def _forget_all_but(self, active: set[str]) -> None:
        for run in (self._settings.keys() | self._polled.keys()) - active:
            self._settings.pop(run, None)
            self._polled.pop(run, None)


def _parsed(report: str) -> Progress:
    """Read a report; one that cannot be read, or is of no query's batch, is empty."""
    try:
        progress = json.loads(report)
    except ValueError:
        return {}
    return progress if isinstance(progress, dict) and {"runId", "batchId"} <= progress.keys() else {}
