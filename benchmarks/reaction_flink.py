"""
Reactions to a step of the load, on real Flink: `python -m benchmarks.reaction_flink`, two and a half hours.

Headgate with `headgate.reaction: fast`, with `windowed`, and a script that knows the load, one run after another, each
on a cluster of its own; then steady loads, which ask for nothing. A run that is finished is kept: called again, the
series goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.reaction_flink_results import RESULTS, STEADY, Name, Results
from benchmarks.reaction_flink_run import Machinery, held, stepped
from benchmarks.reaction_flink_setting import ARMS, STEADY_ARM, STEADY_RUNS, told


def main(
    repeats: int = 5,
    stock_repeats: int = 2,
    steady_repeats: int = 1,
    arms: str = ",".join(ARMS),
    *,
    out: Path = RESULTS,
    logs: Annotated[Path | None, typer.Option(exists=True)] = None,
    anew: bool = False,
) -> None:
    """
    Measure what is not measured yet, and write the results after each run.

    Args:
        repeats: of a step up and down, for each way to rescale, on a cluster on which nothing else waits.
        stock_repeats: the same, with Flink's own cooldown and checkpoints a minute apart.
        steady_repeats: of five minutes of each steady load, with each aggregator of busy time, by `fast` alone.
        arms: the ways to rescale that are measured, with commas between.
        out: takes the results.
        logs: keeps what Headgate said; by default nothing does.
        anew: forget all earlier runs of these ways first.
    """
    ways = arms.split(",")
    results = Results.opened(
        out,
        setting=told(),
        forget=lambda name: anew and (STEADY_ARM if name.cluster == STEADY else name.arm) in ways,
    )
    wanted = planned(ways, repeats=repeats, stock=stock_repeats, steady=steady_repeats)
    machinery = Machinery.found(logs)
    results.complete(wanted, partial(_measured, machinery))


def planned(ways: Sequence[str], *, repeats: int, stock: int, steady: int) -> Iterator[Name]:
    """Give the runs in their order: each repeat begins with another way, so that none is always the first."""
    for cluster, count in (("short", repeats), ("stock", stock)):
        for number in range(count):
            begin = number % len(ways)
            yield from (Name(cluster, arm, number + 1) for arm in (*ways[begin:], *ways[:begin]))
    if STEADY_ARM in ways:
        yield from (Name(STEADY, run, number + 1) for number in range(steady) for run in STEADY_RUNS)


def _measured(machinery: Machinery, name: Name) -> Mapping[str, Any]:
    if name.cluster == STEADY:
        return held(machinery, *STEADY_RUNS[name.arm])
    return stepped(machinery, name.cluster, name.arm, name.repeat)


if __name__ == "__main__":
    typer.run(main)
