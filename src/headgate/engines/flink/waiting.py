"""
Finds out what waits before the sources of one job, and whether they can reach what they read.

Asked are the brokers, where some are declared for the job; else its connectors have to do.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headgate.engines.flink.backlog import IDLES_FROM, Backlog, BacklogMemory, Ends, Idling
from headgate.engines.flink.checkpoints import read_completed
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.kafka import KafkaReading
from headgate.engines.flink.look import Look
from headgate.engines.flink.source import SourceReading
from headgate.errors import HeadgateError, TransientError
from headgate.model.lag import Outage
from headgate.model.measures import Measure
from headgate.ports import EndOffsets, JobContext, Missing

_OVERDUE = 3
"""Checkpoint intervals without a complete checkpoint from which one is overdue."""
_PATIENCE_S = 2.0
"""How long it is waited for what would be good to know, and is not needed."""
_SOONEST = timedelta(seconds=10)
"""A checkpoint is not overdue before that, however often they are taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What waits before a source that can reach what it reads."""

    backlog: Backlog
    begins_anew: bool
    """Whether differences to earlier values mean nothing: lag or partitions are others, or an outage lies between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What the sources of a job are asked about with, at one tick."""

    client: FlinkClient
    ctx: JobContext
    offsets: EndOffsets | None
    """Who knows where topics end; None where nobody is declared for this job."""
    checkpoint_interval_s: float | None
    running_since: datetime
    now: datetime
    """Both by the engine's clock."""

    async def before(
        self, source: SourceReading, look: Look, idling: Idling, memory: BacklogMemory, at: datetime
    ) -> Found | None:
        """
        Tell what waits before a source; None while it cannot reach what it reads: what it measures then is no load.

        Args:
            source: what it tells.
            look: its counters.
            idling: how much it waits for records.
            memory: what is remembered of it.
            at: when it was measured, by our own clock.
        """
        ends, unanswered = await self._ends(source.kafka, at)
        outage = await self._outage(source.kafka, look, memory, at, unanswered=unanswered, answered=ends is not None)
        if ends is None or source.kafka is None:
            others = False
            found = memory.by_connector(at, source.lag, idling, fetches_ahead=source.kafka is not None)
        else:
            mine = {one: end for one, end in ends.items() if one in source.kafka.names.partitions}
            await self._find_begins(source, idling, memory, mine, at)
            others, whole = memory.changed(mine), len(mine) == len(ends)
            found = memory.by_offsets(at, mine, source.kafka.positions, idling, all_told=whole)
        nothing_left = ends is not None and found.values.get(Measure.LAG) == 0
        over = memory.outage.note(None if nothing_left else outage, at)
        if memory.outage.kind is not None:
            return None
        return Found(backlog=found, begins_anew=memory.goes_by(found) or over or others)

    async def _ends(self, kafka: KafkaReading | None, at: datetime) -> tuple[Ends | None, bool]:
        """Give where the source's topics end, None where that cannot be had; and whether nobody answered."""
        if kafka is None or self.offsets is None or not kafka.names.partitions:
            return None, False
        try:
            ends = await self.offsets.read(self.ctx, {topic for topic, _ in kafka.names.partitions}, at)
        except TransientError:
            return None, True
        except HeadgateError:
            return None, False  # it is told elsewhere that they cannot be asked
        return (None, False) if isinstance(ends, Missing) else (ends, False)

    async def _find_begins(
        self, source: SourceReading, idling: Idling, memory: BacklogMemory, ends: Ends, at: datetime
    ) -> None:
        """Look for where a busy source has begun: partitions that wait for their turn may wait as a whole."""
        kafka, read = source.kafka, source.counters.records_in
        if kafka is None or self.offsets is None or read is None or idling.is_at_least(IDLES_FROM):
            return
        positions = kafka.positions
        if not positions.emitted or not memory.may_ask_for_begins(at, ends, positions):
            return
        with suppress(HeadgateError, TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                begins = await self.offsets.begins(self.ctx, {topic for topic, _ in kafka.names.partitions})
            if not isinstance(begins, Missing):
                memory.begins_at(begins, positions, read)

    async def _outage(
        self,
        kafka: KafkaReading | None,
        look: Look,
        memory: BacklogMemory,
        at: datetime,
        *,
        unanswered: bool,
        answered: bool,
    ) -> Outage | None:
        """Tell by what it is known that the source is cut off: it reads nothing, and that is not all there is to it."""
        grown = look.grown("records_in")
        if kafka is None:
            return None
        if grown is None:
            return memory.outage.kind if memory.outage.lasts else None
        if grown > 0:
            return None
        # Brokers that have not answered us for long, or never did, may answer the job all the same.
        if unanswered and (memory.knew_ends(at) or memory.outage.lasts):
            return Outage.UNANSWERED
        if kafka.is_disconnected:
            return Outage.DISCONNECTED
        return Outage.CHECKPOINT if not answered and await self._is_overdue() else None

    async def _is_overdue(self) -> bool:
        if self.checkpoint_interval_s is None:
            return False
        try:
            last, took, waits = await self.client.get(f"/jobs/{self.ctx.job_id}/checkpoints", _read_last)
        except HeadgateError:
            return False
        if not waits:
            return False  # none is due, as between two with a pause
        due = max(_OVERDUE * timedelta(seconds=self.checkpoint_interval_s), _SOONEST) + took
        return self.now - max(self.running_since, last or self.running_since) > due


def idling(look: Look) -> Idling:
    """Give how much a source waits for records, by its subtask that does least."""
    measured, elapsed_ms = look.seen.reading.counters.idle_ms is not None, 1000 * look.elapsed_s
    least_ms, all_ms = look.grown("least_idle_ms"), look.grown("idle_ms")
    if least_ms is None or all_ms is None or elapsed_ms <= 0:
        return Idling(measured=measured)
    working = look.seen.reading.parallelism - all_ms / elapsed_ms
    return Idling(measured=measured, share=max(0.0, least_ms / elapsed_ms), working=working)


def _read_last(answer: Any) -> tuple[datetime | None, timedelta, bool]:
    """Read from `/jobs/:id/checkpoints` when the last one was complete, how long it took, and if one is under way."""
    waits = answer["counts"]["in_progress"] > 0
    last = answer["latest"].get("completed") or {}
    return read_completed(answer), timedelta(milliseconds=last.get("end_to_end_duration", 0)), waits
