"""
Two ways to measure what comes in, in the simulator: `python -m benchmarks.reaction --jobs 500 --seed 1`, 90 min.

`headgate.reaction: fast` beside `windowed` at three window lengths, over random jobs and loads. What was measured is
kept: called again, the series goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from os import cpu_count
from typing import TypeVar

import typer

from benchmarks.reaction_jobs import JOBS_A_CLUSTER
from benchmarks.reaction_results import CalmRow, Results, Row, calm, compared
from benchmarks.reaction_run import FAST, POLICIES, Part, measured, measured_calm

R = TypeVar("R", Row, CalmRow)


def main(
    jobs: int = 500,
    seed: int = 1,
    calm_jobs: int = 100,
    *,
    policies: str = ",".join(POLICIES),
    calm_policies: str = FAST,
    processes: int = cpu_count() or 1,
    anew: bool = False,
) -> None:
    """
    Measure each policy under random loads, and then under constant ones for a day.

    Args:
        jobs: how many random jobs; a multiple of ten, for ten share a cluster.
        seed: of jobs, clusters and loads.
        calm_jobs: how many of a constant load; another multiple of ten, or none.
        policies: those to measure, with commas between.
        calm_policies: those to measure for a day.
        processes: how many clusters are simulated at the same time.
        anew: forget first what was measured before with this seed.
    """
    _measure(compared(seed), measured, _parts(seed, jobs, policies.split(",")), processes, anew=anew)
    _measure(calm(seed), measured_calm, _parts(seed, calm_jobs, calm_policies.split(",")), processes, anew=anew)


def _parts(seed: int, jobs: int, policies: Sequence[str]) -> list[Part]:
    """Divide the work; all policies of a cluster follow each other, so that any beginning of it compares them all."""
    if jobs % JOBS_A_CLUSTER:
        message = f"jobs must be a multiple of {JOBS_A_CLUSTER}, not {jobs}"
        raise typer.BadParameter(message)
    clusters = range(jobs // JOBS_A_CLUSTER)
    return [Part(seed=seed, cluster=cluster, policy=policy) for cluster in clusters for policy in policies]


def _measure(
    results: Results[R], measure: Callable[[Part], list[R]], parts: Sequence[Part], processes: int, *, anew: bool
) -> None:
    if anew:
        results.forget()
    done = {(row.policy, row.job) for row in results.rows()}
    left = [part for part in parts if not all((part.policy, number) in done for number in part.numbers)]
    for count, rows in enumerate(_each(measure, left, processes), len(parts) - len(left) + 1):
        results.add(rows)
        print(f"{datetime.now(UTC):%H:%M:%S} {results.path.stem}: {count} of {len(parts)}", flush=True)


def _each(measure: Callable[[Part], list[R]], parts: Sequence[Part], processes: int) -> Iterable[list[R]]:
    with ProcessPoolExecutor(processes) as pool:
        for future in as_completed([pool.submit(measure, part) for part in parts]):
            yield future.result()


if __name__ == "__main__":
    typer.run(main)
