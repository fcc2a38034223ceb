"""The policies compared: what is read off the raw runs."""

from __future__ import annotations

import pytest
from benchmarks.policies_page import (
    looks,
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
