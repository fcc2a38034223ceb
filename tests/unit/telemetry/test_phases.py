"""What the seconds of a cycle go into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from headgate.telemetry.board import Board
from headgate.telemetry.phases import Phase, Phases

Scrape = Callable[[Board], Mapping[str, Mapping[tuple[str, ...], float]]]


def test_a_cycle_counts_once_however_many_jobs_it_cares_for() -> None:
    """Their seconds are summed: a quantile over cycles says how long cycles are, not how many jobs there are."""
    seconds = count()
    phases = Phases(lambda: float(next(seconds)))  # a second passes whenever somebody looks
    for _ in range(3):
        with phases.timed(Phase.DECIDE):
            pass
    assert phases.read() == {}
    phases.end_cycle()
    assert phases.read()[Phase.DECIDE].total_s == 3
    assert sum(phases.read()[Phase.DECIDE].buckets) == 1


def test_a_phase_that_did_not_occur_is_not_counted() -> None:
    """Most cycles ask no engine for anything: a mean over all of them would say that engines answer at once."""
    phases = Phases()
    with phases.timed(Phase.REALIZE):
        pass
    phases.end_cycle()
    phases.end_cycle()
    assert sum(phases.read()[Phase.REALIZE].buckets) == 1


def test_phases_are_shown_by_their_names(scrape: Scrape) -> None:
    """As a histogram."""
    board = Board()
    board.phases.note(Phase.COLLECT, 0.2)
    page = scrape(board)
    assert page["headgate_phase_duration_seconds_sum"] == {("collect",): 0.2}
    assert page["headgate_phase_duration_seconds_bucket"]["0.25", "collect"] == 1
