"""The policies compared: what is read off the raw runs, and that the page says the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.policies_page import (
    BEGIN,
    END,
    PAGE,
    PLOT,
    RESULTS,
    draw,
    looks,
    rendered,
    rescales,
    standstill_s,
    violations_percent,
    worker_s,
    worst_lag_s,
)
from benchmarks.policies_run import Sample, Setting

SETTING = Setting(period_s=100.0, periods=1)


def seen(at_s: float, lag_s: float, *, workers: int = 2, parallelism: int = 2, runs: bool = True) -> Sample:
    """Return a sample of a job whose oldest waiting record came so long ago."""
    return [at_s, SETTING.offered(at_s - lag_s), float(workers), float(parallelism), float(runs)]


def test_lag_time_is_the_age_of_the_oldest_record_that_waits() -> None:
    """Whatever the load was since then."""
    run = looks([seen(10, 0), seen(50, 8), seen(90, 3)], SETTING)
    assert [look.lag_s for look in run] == pytest.approx([0, 8, 3], abs=0.02)
    assert worst_lag_s(run) == pytest.approx(8, abs=0.02)


def test_what_is_seen_holds_until_the_next_look() -> None:
    """40 of 90 s with more than 5 s of lag; workers are paid for as long as they were there."""
    run = looks([seen(10, 0, workers=1), seen(50, 8, workers=3), seen(90, 3)], SETTING)
    assert violations_percent(run) == pytest.approx(100 * 40 / 90)
    assert worker_s(run) == pytest.approx(1 * 40 + 3 * 40 + 2 * 10)


def test_a_rescale_is_another_parallelism_that_runs() -> None:
    """The standstill between is none, and a failover that ends as it began is none either."""
    down = [seen(20, 1, runs=False), seen(40, 1, runs=False)]
    assert rescales(looks([seen(10, 0), *down, seen(50, 1, parallelism=3)], SETTING)) == 1
    assert rescales(looks([seen(10, 0), *down, seen(50, 1)], SETTING)) == 0
    assert standstill_s(looks([seen(10, 0), *down, seen(50, 1)], SETTING)) == pytest.approx(30)


def test_static_arms_are_sized_by_arithmetic() -> None:
    """At 70 %: 1.4 subtasks are busy on average, 2.66 at the peak."""
    assert (SETTING.for_mean, SETTING.for_peak) == (2, 4)
    assert SETTING.offered(100) == pytest.approx(SETTING.base_per_s * 100)


def test_several_runs_are_their_median_with_the_least_and_the_most() -> None:
    """One run is its value."""
    run = {"arm": "mean", "began": "2026-01-01 00:00:00", "load": [1.0, 2.0], "samples": [seen(0, 0)]}
    more = [{**run, "repeat": 2, "samples": [seen(0, 0, workers=workers)]} for workers in (3, 7)]
    told = {"setting": {"period_s": 100.0, "periods": 1}, "machine": {"cores": 2}, "runs": []}
    others = [{**run, "repeat": 1, "arm": arm} for arm in ("paper", "headgate", "peak")]
    lines = rendered({**told, "runs": [*others, {**run, "repeat": 1}, *more]}).splitlines()
    assert lines[2].endswith("| 200 |")
    assert lines[5].endswith("| 300 (200 to 700) |")


def test_the_page_says_what_the_committed_runs_say() -> None:
    """A row each, made again from what was seen; the plot stands beside it."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN + "\n")
    part, _, _ = rest.partition(END)
    assert part == rendered(results)
    assert PLOT.exists()


def test_the_plot_is_the_same_at_every_call(tmp_path: Path) -> None:
    """So that drawing it again changes nothing in the repository."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(results, first)
    draw(results, second)
    assert first.read_bytes() == second.read_bytes()
