"""Whether a reading says anything new, and whether the vertex has started anew since the one before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headgate.engines.flink.counters import Counters
from headgate.engines.flink.details import VertexDetails
from headgate.engines.flink.look import Look, Reading, Seen
from headgate.engines.flink.memory import VertexMemory
from headgate.engines.flink.numbers import instant
from headgate.engines.prometheus.reading import VertexReading

_CLOCK_TOLERANCE_MS = 1_000.0


@dataclass(slots=True, kw_only=True)
class ScrapedVertex(VertexMemory):
    """What is remembered of a vertex."""

    read: VertexReading | None = None
    """The latest reading that was a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """When a vertex is looked at."""

    at: datetime
    """The tick."""
    now_ms: float
    """The JobManager's clock."""
    running_since_ms: int


def look(
    memory: ScrapedVertex, vertex: VertexDetails, read: VertexReading, counters: Counters, now: Now
) -> Look | None:
    """
    Compare a reading with the sample before.

    Args:
        memory: the sample before.
        vertex: what Flink says of the vertex.
        read: what was scraped.
        counters: what it has counted, of a source with its own input.
        now: the instant.

    Returns:
        None when nothing is new, or what was scraped is of an earlier run.
    """
    if vertex.started_at_ms + read.longest_ms > now.now_ms + _CLOCK_TOLERANCE_MS:
        return None  # it has run for longer than it exists: the scrape is from before a restart
    reading = Reading(
        counters=counters,
        parallelism=vertex.parallelism,
        started_at_ms=vertex.started_at_ms,
        running_since_ms=now.running_since_ms,
        now_ms=now.now_ms,
        all_running=vertex.all_running,
    )
    before, seen = memory.read, memory.seen
    goes_on = (
        before is not None
        and seen is not None
        and seen.reading.running_since_ms == now.running_since_ms
        and not read.restarted_since(before)
    )
    if before is not None and not read.is_news_to(before, wholly=goes_on):
        return None
    fresh = Seen(
        reading=reading,
        measured_at=instant(read.measured_at_ms),
        epoch=_epoch(seen, reading, goes_on),
        looked_at=now.at,
    )
    return Look(seen=fresh, before=seen if goes_on else None, is_sample=True)


def _epoch(seen: Seen | None, reading: Reading, goes_on: bool) -> int:  # noqa: FBT001 - private
    if seen is None:
        return reading.first_epoch
    return seen.epoch if goes_on else max(reading.first_epoch, seen.epoch + 1)
