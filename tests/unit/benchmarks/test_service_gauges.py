"""What the benchmarks read from the service's own metrics."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from benchmarks.service_gauges import Scrape, Ticks, cpu_s, memory_mib

from headgate.control.runner import TickRun, Work
from headgate.model.events import Event, EventReason, EventType
from headgate.telemetry.board import Board
from headgate.telemetry.collector import FleetCollector
from headgate.telemetry.exposition import exposed

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)


def scrape(board: Board) -> Scrape:
    """Read what the service would show."""
    return Scrape(b"".join(exposed(FleetCollector(board).collect())).decode())


def test_ticks_are_read_by_their_work() -> None:
    """How many there were, how long all of them took and the last one, and when that began."""
    board = Board()
    for took_s in (1.0, 2.0):
        at = AT + timedelta(seconds=took_s)
        took = timedelta(seconds=took_s)
        board.ticked(TickRun(work=Work.COLLECT, at=at, late=timedelta(), took=took, failed=False))
    seen = scrape(board)
    assert seen.ticks("collect") == Ticks(count=2, total_s=3.0, last_at=AT.timestamp() + 2, last_s=2.0)
    assert seen.ticks("decide") is None


def test_events_are_counted_over_all_reasons() -> None:
    """As they happened."""
    board = Board()
    for reason in (EventReason.SCALING, EventReason.SCALING, EventReason.ROLLBACK):
        board.told(Event(at=AT, type=EventType.NORMAL, reason=reason, message="", key="k", subject="c"))
    assert scrape(board).events() == 3


def test_a_process_that_is_gone_costs_nothing() -> None:
    """Where this one has some memory and some CPU time."""
    assert memory_mib(os.getpid()) > 1
    assert cpu_s(os.getpid()) > 0
    assert memory_mib(2**22 + 1) == cpu_s(2**22 + 1) == 0
