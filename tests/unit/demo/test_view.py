"""The demo's pictures, at all times and sizes."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from headgate.demo.draw import draw
from headgate.demo.judge import judge
from headgate.demo.picture import draw_scene
from headgate.demo.saying import Saying
from headgate.demo.scene import Scene, clock, columns
from headgate.demo.timeline import Observation
from headgate.demo.verdicts import summary, verdict_table
from headgate.demo.view import LiveView, PlainView, choose_view

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
WORKLOAD = draw(7)
LENGTH = timedelta(seconds=60)


def scene(until_s: int, *, dry_run: bool = False) -> Scene:
    """Give the demo at a time: the job got what it needed 20 s into each phase, and Headgate said so."""
    phases = WORKLOAD.phases
    timeline = [
        Observation(
            at_s=float(at),
            parallelism=WORKLOAD.optimum(phases[max(0, min(at - 20, 179)) // 60]),
            wanted_per_s=phases[at // 60].rate_per_s,
            processed_per_s=phases[at // 60].rate_per_s * 0.9,
            lag_records=float(at % 60) * 10,
            busy={"parse": 0.5},
        )
        for at in range(until_s)
    ]
    said = Saying(at=EPOCH + timedelta(seconds=20), what="Rescaled", message="enrich 1 -> 2", rescales=True)
    return Scene(
        workload=WORKLOAD,
        phase_length=LENGTH,
        epoch=EPOCH,
        at_s=float(until_s),
        dry_run=dry_run,
        timeline=timeline,
        sayings=(said,) if until_s > 20 else (),
    )


def console(width: int = 100, height: int = 40, *, terminal: bool = False) -> Console:
    """Give a console that writes to memory."""
    return Console(file=io.StringIO(), width=width, height=height, force_terminal=terminal)


def printed(shown: Console) -> str:
    """Give what it wrote."""
    assert isinstance(shown.file, io.StringIO)
    return shown.file.getvalue()


@pytest.mark.parametrize("until_s", [0, 1, 59, 60, 150, 180])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 30), (140, 50)])
def test_the_picture_fits_the_terminal_at_all_times(until_s: int, width: int, height: int) -> None:
    """Live redrawing works only for pictures that are not higher than the terminal."""
    shown = console(width, height)
    shown.print(draw_scene(scene(until_s), width=width, height=height))
    lines = printed(shown).splitlines()
    assert len(lines) <= height
    assert max(map(len, lines)) <= width


def test_the_picture_is_in_plain_words() -> None:
    """It names the phases, the steps, what is needed and what runs, and what Headgate said with the reason."""
    shown = console()
    shown.print(draw_scene(scene(70), width=100, height=40))
    text = printed(shown)
    for words in ("high load", "coming in", "the lag", "workers now", "needed now", "enrich", "1:10", "enrich 1 -> 2"):
        assert words in text


def test_a_dry_run_says_that_it_is_one() -> None:
    """Otherwise one would wonder why nothing happens."""
    shown = console()
    shown.print(draw_scene(scene(70, dry_run=True), width=100, height=40))
    assert "only say what it would do" in printed(shown)


def test_a_terminal_gets_the_live_picture_and_a_file_plain_lines() -> None:
    """A CI log cannot be drawn over."""
    assert isinstance(choose_view(console(terminal=True)), LiveView)
    assert isinstance(choose_view(console(terminal=False)), PlainView)


def test_the_live_view_leaves_the_last_picture() -> None:
    """What was seen last stays on the screen, above the verdict."""
    shown = console(terminal=True)
    with LiveView(shown) as view:
        view.show(scene(30))
    assert "Headgate demo" in printed(shown)


def test_the_plain_view_prints_a_line_each_five_seconds_and_each_saying_once() -> None:
    """Eleven seconds give three lines; a saying is not repeated with each scene."""
    shown = console()
    with PlainView(shown) as view:
        for at in range(30, 41):
            view.show(scene(at))
    lines = printed(shown).splitlines()
    assert sum("waiting" in line for line in lines) == 3
    assert sum("Headgate: Rescaled" in line for line in lines) == 1


def test_the_plain_view_says_so_while_there_is_no_job() -> None:
    """Nothing was seen yet."""
    shown = console()
    with PlainView(shown) as view:
        view.show(replace(scene(0), at_s=-4.0))
    assert printed(shown).split() == ["-0:04", "waiting", "for", "the", "job"]


def test_columns_join_what_falls_into_one_and_bridge_what_was_not_seen() -> None:
    """90 columns over 180 s hold two seconds each."""
    sparse = replace(scene(180), timeline=[scene(180).timeline[at] for at in (0, 1, 6)])
    lags = columns(sparse, 90, lambda seen: seen.lag_records)
    assert lags == [10, 10, 10, 60]


def test_a_phase_begins_at_its_column() -> None:
    """The charts stay in step with the clock above them."""
    rates = columns(scene(180), 87, lambda seen: seen.wanted_per_s)
    low, high, low_again = (phase.rate_per_s for phase in WORKLOAD.phases)
    assert rates == [low] * 29 + [high] * 29 + [low_again] * 29


@pytest.mark.parametrize(("seconds", "text"), [(-5.9, "-0:05"), (-0.4, "0:00"), (0, "0:00"), (65.9, "1:05")])
def test_the_clock_counts_down_to_the_first_phase_and_up_from_it(seconds: float, text: str) -> None:
    """Whole seconds only."""
    assert clock(seconds) == text


def test_the_final_table_shows_wanted_and_reached() -> None:
    """Each phase is a line with its verdict, and the last words tell the whole."""
    verdicts = judge(WORKLOAD, scene(180).timeline, LENGTH)
    shown = console(120)
    shown.print(verdict_table(verdicts), summary(verdicts, dry_run=False))
    text = printed(shown)
    assert text.count("passed") == 3
    for wanted in (WORKLOAD.optimum(phase)["enrich"] for phase in WORKLOAD.phases):
        assert f"{wanted}/{wanted}" in text
    assert "PASSED" in text


def test_a_failed_dry_run_says_that_failing_is_right() -> None:
    """Nobody should look for a fault there."""
    verdicts = judge(WORKLOAD, [], LENGTH)
    assert "right for a dry run" in summary(verdicts, dry_run=True).plain
    assert "right for a dry run" not in summary(verdicts, dry_run=False).plain
