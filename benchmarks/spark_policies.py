"""
Four ways to hold executors for one streaming query on Spark: `python -m benchmarks.spark_policies`, 5 hours.

Static for the mean load, static for the highest, Spark's dynamic allocation, and Headgate, one run after another on
real standalone clusters. A run that is finished is kept: called again, the series goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.spark_load import Load
from benchmarks.spark_optimum import BatchCost
from benchmarks.spark_policies_results import RESULTS, Results, calibration, compared
from benchmarks.spark_policies_run import measured
from benchmarks.spark_policies_setting import CALIBRATED, POLICIES, WORKERS, Policy, static


def main(
    seeds: str = "1,2,3",
    minutes: float = 20,
    policies: str = ",".join(POLICIES),
    out: Path = RESULTS,
    logs: Annotated[Path | None, typer.Option(exists=True)] = None,
    *,
    anew: bool = False,
    at_once: Annotated[int, typer.Option(min=1)] = 1,
) -> None:
    """
    Measure what a batch costs, then each policy under the load of each seed.

    Args:
        seeds: of the loads, with commas between.
        minutes: of each run, without what leads in.
        policies: those to measure, with commas between.
        out: takes one file for each run.
        logs: keeps what the applications said; by default nothing does.
        anew: forget all earlier runs first.
        at_once: how many policies of a seed may run at the same time, each on a cluster of its own: they share what
            disturbs the machine, but also its cores. Two are enough for two cores; four keep each other waiting.

    Raises:
        SystemExit: the machine is too slow, or too busy, for these loads.
    """
    results = Results(out)
    if anew:
        results.forget()
    for cores, load in CALIBRATED.items():
        _measure(results, calibration(cores), static(cores), load=load, logs=logs)
    cost = results.cost()
    print(f"a batch: {cost}")
    for load in (Load(seed=int(seed), duration_s=round(60 * minutes)) for seed in seeds.split(",")):
        _confirm(load, cost)
        _compare(results, load, {arm: POLICIES[arm](load, cost) for arm in policies.split(",")}, logs, at_once=at_once)


def _compare(results: Results, load: Load, policies: Mapping[str, Policy], logs: Path | None, *, at_once: int) -> None:
    def run(arm: str) -> None:
        _measure(results, compared(load.seed, arm), policies[arm], load=load, logs=logs)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(run, policies))


def _confirm(load: Load, cost: BatchCost) -> None:
    """Refuse a series in which no size could bear the highest load: it would compare nothing."""
    most = cost.capacity_per_s(WORKERS)
    if load.peak_per_s > most:
        message = (
            f"{WORKERS} cores bear {most:.0f} rows/s here, of {load.peak_per_s:.0f}. Hint: wait for a quiet machine"
        )
        raise SystemExit(message)


def _measure(results: Results, name: str, policy: Policy, *, load: Load, logs: Path | None) -> None:
    if results.has(name, load):
        print(f"{_now()} {name}: measured before")
        return
    print(f"{_now()} {name}: {load.lead_s + load.duration_s} s of load")
    run = measured(policy, load, logs)
    results.write(name, {"arm": name.rpartition("-")[2], "load": asdict(load), **run})


def _now() -> str:
    return f"{datetime.now(UTC):%H:%M:%S}"


if __name__ == "__main__":
    typer.run(main)
