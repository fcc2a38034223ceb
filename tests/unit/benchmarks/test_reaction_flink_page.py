"""Reactions on real Flink: the tables and verdicts, and that the page says what the kept runs say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.reaction_flink_figures import Look, Step
from benchmarks.reaction_flink_page import BEGIN, END, PAGE, PLOT, WHO, asked, rendered, spread
from benchmarks.reaction_flink_plot import draw
from benchmarks.reaction_flink_results import RESULTS, Name, Results
from benchmarks.reaction_flink_setting import STEADY_RUNS


def step(per_s: float, before: int, after: int, ask_s: float, took_s: float = 2.0) -> Step:
    """Return a step that is answered in one rescale."""
    looks = [
        Look(at_s=at_s, asked=(1, 1, asks, 1), ran=(1, 1, ran, 1), runs=True, lag=0)
        for at_s, asks, ran in (
            (-1.0, before, before),
            (ask_s, after, before),
            (ask_s + took_s, after, after),
            (ask_s + took_s + 60, after, after),
        )
    ]
    return Step(per_s=per_s, looks=looks)


def run(**steps: Step) -> dict[str, Any]:
    """Return a raw run."""
    told = {name: each.told for name, each in steps.items()}
    return {"began": "2026-01-01 00:00:00", "cores": 2, "load": [0.5, 1.5], "steps": told}


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Return a series of two repeats on both clusters; the fast one asks 3 s later in the second."""
    kept = Results(tmp_path / "runs.json", {})
    for cluster, took_s in (("short", 2.0), ("stock", 40.0)):
        for arm, at_s in (("fast", 1.0), ("windowed", 40.0), ("script", 0.1)):
            for repeat in (1, 2):
                ask_s = at_s + 3 * (repeat - 1) * (arm == "fast")
                steps = {"up": step(1600, 1, 4, ask_s, took_s), "down": step(400, 4, 1, ask_s, took_s)}
                kept.add(Name(cluster, arm, repeat), run(**steps))
    for name in STEADY_RUNS:
        kept.add(Name("steady", name, 1), run(steady=step(400, 1, 1, 100)))
    return kept


def test_the_worst_repeat_is_held_against_what_was_asked_for(results: Results) -> None:
    """6 s are less than three times the script's 2.1."""
    came = {what: worst for what, _, worst in asked(results)}
    assert came["first asked, s after the step up"] == 4
    assert came["at the right size after the step up, times the script's"] == pytest.approx(6 / 2.1)
    assert (came["rescales for the step up"], came["rescales for the step down"]) == (1, 1)
    assert came["rescales in five minutes of a steady load"] == 0
    assert "missed" not in rendered(results)


def test_what_never_came_is_missed(results: Results) -> None:
    """It is no worse than late, but for ever."""
    results.add(Name("short", "fast", 3), run(up=step(1600, 1, 3, 1), down=step(400, 4, 1, 1)))
    part = rendered(results)
    assert "| inf | **missed** |" in part
    assert "never in 1 of 3" in part


def test_the_table_tells_how_much_of_the_wait_is_the_clusters(results: Results) -> None:
    """On the other cluster it is nearly all of it."""
    lines = [line for line in rendered(results).splitlines() if line.startswith(f"| {WHO['script']} |")]
    short, _, stock, _ = (line.split(" | ") for line in lines)
    assert (short[2], short[3]) == ("2.1 (2.1 to 2.1)", "2.0 (2.0 to 2.0)")
    assert (stock[2], stock[3]) == ("40.1 (40.1 to 40.1)", "40.0 (40.0 to 40.0)")


def test_a_series_under_way_can_be_looked_at(results: Results) -> None:
    """What was not measured yet has no row, and no verdict."""
    begun = Results(results.path, {Name("short", "windowed", 1): results.runs[Name("short", "windowed", 1)]})
    part = rendered(begun)
    assert WHO["windowed"] in part
    assert WHO["fast"] not in part
    assert not list(asked(begun))


def test_several_values_are_their_median_with_the_least_and_the_most() -> None:
    """One is itself; what never came is counted."""
    assert spread([2.0], "{:.1f}") == "2.0"
    assert spread([2.0, 9.0, 4.0], "{:.0f}") == "4 (2 to 9)"
    assert spread([2.0, None], "{:.0f}") == "2, never in 1 of 2"
    assert spread([None], "{:.0f}") == "never"


def test_the_page_says_what_the_kept_runs_say() -> None:
    """Where there are none yet, that there are none."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN + "\n")
    part, _, _ = rest.partition(END)
    kept = Results.read(RESULTS)
    assert part == rendered(kept)
    assert PLOT.exists() == bool(kept.runs)


def test_the_plot_is_the_same_at_every_call(results: Results, tmp_path: Path) -> None:
    """So that drawing it again changes nothing in the repository."""
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(results, first)
    draw(results, second)
    assert first.read_bytes() == second.read_bytes()
