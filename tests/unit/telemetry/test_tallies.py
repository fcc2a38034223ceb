"""How long ticks take, and how late they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from headgate.control.runner import Runner, TickRun, Work
from headgate.telemetry.board import Board
from headgate.telemetry.tallies import BOUNDS, Durations
from headgate.testing.builders import at
from headgate.testing.scenario import Scenario

Scrape = Callable[[Board], Mapping[str, Mapping[tuple[str, ...], float]]]


def test_a_bucket_holds_its_upper_end() -> None:
    """`le` is less or equal; what is longer than all bounds stands in the last bucket alone."""
    durations = Durations().with_duration(BOUNDS[0]).with_duration(BOUNDS[-1] + 1)
    cumulated = dict(durations.cumulated())
    assert [*cumulated.values()] == [1] * len(BOUNDS) + [2]
    assert [*cumulated] == [*map(str, BOUNDS), "+Inf"]
    assert durations.total_s == BOUNDS[0] + BOUNDS[-1] + 1


def test_ticks_are_shown_by_what_they_do(scrape: Scrape) -> None:
    """The last one in gauges, all of them in a histogram, the failed ones counted."""
    board = Board()
    for took, failed in ((3, True), (0.2, False)):
        run = TickRun(
            work=Work.DECIDE, at=at(30), late=timedelta(seconds=4), took=timedelta(seconds=took), failed=failed
        )
        board.ticked(run)
    page = scrape(board)
    assert page["headgate_tick_last_duration_seconds"] == {("decide",): 0.2}
    assert page["headgate_tick_lateness_seconds"] == {("decide",): 4}
    assert page["headgate_tick_last_timestamp_seconds"] == {("decide",): at(30).timestamp()}
    assert page["headgate_tick_failures_total"] == {("decide",): 1}
    assert page["headgate_tick_duration_seconds_count"] == {("decide",): 2}
    assert page["headgate_tick_duration_seconds_sum"] == {("decide",): 3.2}
    assert page["headgate_tick_duration_seconds_bucket"]["0.25", "decide"] == 1
    assert page["headgate_tick_duration_seconds_bucket"]["+Inf", "decide"] == 2


async def test_a_tick_longer_than_its_interval_makes_the_next_one_late() -> None:
    """Due one interval after the one before; the first is never late. A failed tick is told as one."""
    # A tick looks at the clock when it begins and when it ends, and then how long it is to the next one.
    clock = iter(map(at, (0, 0.05, 0.099, 0.1, 0.35, 0.399, 0.4, 0.41, 0.499)))
    stop, runs = asyncio.Event(), list[TickRun]()

    async def tick(due: datetime) -> None:
        if due == at(0.1):
            message = "planted"
            raise ValueError(message)
        if due == at(0.4):
            stop.set()

    world = Scenario()
    runner = Runner(
        observers=(),
        cycle=world.cycle(),
        events=world.events,
        collect_interval=timedelta(seconds=0.1),
        decide_interval=timedelta(seconds=0.1),
        clock=lambda: next(clock),
        on_tick=runs.append,
    )
    await runner._every(timedelta(seconds=0.1), Work.COLLECT, tick, stop)
    assert [(run.late.total_seconds(), run.took.total_seconds(), run.failed) for run in runs] == [
        (0, 0.05, False),
        (0, 0.25, True),
        (0.2, 0.01, False),
    ]
    assert [event.message for event in world.events.told] == ["collecting: planted"]
