"""`headgate demo`: the whole, on a cluster of its own."""

from __future__ import annotations

import secrets
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from headgate.cli import console
from headgate.demo.play import play

_RANDOM = "random"


def demo(
    seed: Annotated[str, typer.Option(help="Number that fixes the workload, or `random`.")] = _RANDOM,
    *,
    dry_run: Annotated[bool, typer.Option(help="Headgate only advises: the judge must find it failing.")] = False,
    phase_seconds: Annotated[float, typer.Option(help="Length of each of the three phases, at least 40.")] = 60,
    keep_logs: Annotated[Path | None, typer.Option(help="Directory that receives logs and data.")] = None,
) -> None:
    """
    Start a real Flink cluster, step a job's load up and down, and let Headgate follow it.

    Takes about four minutes once Java and Flink are fetched. Ends with a table of parallelism wanted and reached;
    the exit status is 0 only if every phase reached its optimum. Leaves nothing behind.
    """
    number = secrets.randbelow(1_000_000) if seed == _RANDOM else _number(seed)
    console.out.print(f"seed {number} (repeat this run with --seed {number})")
    with console.failures():
        raise typer.Exit(play(number, dry_run=dry_run, phase=timedelta(seconds=phase_seconds), keep_logs=keep_logs))


def _number(seed: str) -> int:
    if not seed.isdecimal():
        message = f"{seed!r} is neither a number nor `{_RANDOM}`"
        raise typer.BadParameter(message, param_hint="--seed")
    return int(seed)
