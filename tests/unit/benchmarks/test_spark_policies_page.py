"""The policies on Spark compared: raw runs are kept and found again, and the page says what they say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from benchmarks.page import with_part
from benchmarks.spark_load import Load
from benchmarks.spark_optimum import BatchCost
from benchmarks.spark_policies_page import BEGIN, END, PAGE, PLOT, WHO, draw, read_series, rendered
from benchmarks.spark_policies_results import RESULTS, Results, calibration, compared
from benchmarks.spark_policies_setting import CALIBRATED

COST = BatchCost(base_s=0.4, waves_s=0.36, row_s=0.004, partitions=12, interval_s=2.0, most_cores=12)
LOAD = Load(seed=1, duration_s=400)
CORES = {"mean": 4, "peak": 6, "dynamic": 6, "headgate": 6}


def made(load: Load, cores: int, *, arm: str = "", slower: float = 1.0) -> dict[str, Any]:
    """Return the raw run of a size that keeps up, each batch as the model says."""
    return {
        "arm": arm,
        "load": asdict(load),
        "began": "2026-01-01 00:00:00",
        "busy": [1.0, 2.0],
        "batches": list(_batches(load, cores, slower)),
        "cores": [[0.0, cores - 1, cores - 1, 0], [5.0, cores, cores - 1, 0], [9.0, cores, cores, 0]],
    }


def _batches(load: Load, cores: int, slower: float) -> Iterator[list[float]]:
    for at_s in range(2, load.duration_s, 2):
        rows = round(load.offered(at_s) - load.offered(at_s - 2))
        waves = -(-12 // cores)
        took_s = COST.base_s + (COST.waves_s + COST.row_s * rows) * waves / 12
        yield [float(at_s), slower * took_s, rows, round(load.offered(at_s))]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Return a series of two seeds; Headgate keeps up with all of its executors all the time."""
    kept = Results(tmp_path / "runs")
    for cores, load in CALIBRATED.items():
        kept.write(calibration(cores), made(load, cores))
    for seed in (1, 2):
        load = Load(seed=seed, duration_s=400)
        for arm, cores in CORES.items():
            kept.write(compared(seed, arm), made(load, cores, arm=arm))
    return kept


def test_a_run_is_found_again_as_it_was_kept(results: Results) -> None:
    """But only under the same load: another duration is another run."""
    assert results.raw(compared(1, "peak")) == made(LOAD, 6, arm="peak")
    assert results.has(compared(1, "peak"), LOAD)
    assert not results.has(compared(1, "peak"), Load(seed=1, duration_s=500))
    assert not results.has(compared(7, "peak"), LOAD)


def test_a_series_that_begins_anew_forgets_every_run(results: Results) -> None:
    """The calibration too: it is of the machine as it was."""
    results.forget()
    assert results.names() == []


def test_what_a_batch_costs_is_read_off_the_calibration(results: Results) -> None:
    """The sizes of a comparison follow from it."""
    found = results.cost()
    assert (found.base_s, found.waves_s, found.row_s) == pytest.approx((0.4, 0.36, 0.004), abs=1e-3)


def test_a_policy_is_measured_by_the_size_for_the_peak_and_by_the_optimum(results: Results) -> None:
    """Here Headgate is as fast as that size, and pays for as much."""
    series = read_series(results)
    assert series.p95_ratio(1, "headgate") == pytest.approx(1)
    assert series.core_ratio(1, "headgate") == pytest.approx((6 * 400 - 5) / series.optimum_s(1))
    assert series.start_up_s == 4


def test_a_seed_that_lacks_what_is_judged_is_left_out(results: Results) -> None:
    """A series under way can be looked at."""
    (results.folder / "seed-2-peak.json").unlink()
    assert list(read_series(results).runs) == [1]


def test_a_policy_that_not_every_seed_has_is_shown_with_those_that_have_it(results: Results) -> None:
    """It has no worst of all seeds."""
    (results.folder / "seed-2-mean.json").unlink()
    lines = [line for line in rendered(results).splitlines() if line.startswith("| ")]
    assert sum(line.startswith(f"| {WHO['mean']} |") for line in lines) == 1
    assert sum(line.startswith(f"| {WHO['dynamic']} |") for line in lines) == 3


def test_the_worst_of_the_seeds_is_shown_and_each_threshold_has_its_verdict(results: Results) -> None:
    """Batches half as long again miss the first one, six executors all the time the third."""
    results.write(compared(2, "headgate"), made(Load(seed=2, duration_s=400), 6, arm="headgate", slower=1.5))
    lines = rendered(results).splitlines()
    worst, first, second = (line.split(" | ") for line in lines if line.startswith(f"| {WHO['headgate']} |"))
    assert worst[1] == second[1] != first[1]
    p95, drained, cores = (line for line in lines if line.endswith(("| met |", "| **missed** |")))
    assert p95.endswith("| 1.00 | 1.50 | **missed** |")
    assert drained.endswith("| met |")
    assert cores.endswith("| **missed** |")


def test_the_plot_is_the_same_at_every_call(results: Results, tmp_path: Path) -> None:
    """So that drawing it again changes nothing in the repository."""
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(results, first)
    draw(results, second)
    assert first.read_bytes() == second.read_bytes()


def test_the_page_says_what_the_committed_runs_say() -> None:
    """Neither table nor plot is kept by hand."""
    page = PAGE.read_text(encoding="utf-8")
    assert with_part(page, rendered(Results(RESULTS)), begin=BEGIN, end=END) == page
    assert PLOT.exists()
