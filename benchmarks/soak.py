"""
Does Headgate stay itself? 500 jobs for a quarter of an hour, with troubles, and a state store that goes away twice.

`headgate run` acts, in a process of its own as a user would start it, on a fake Flink whose jobs' loads step up and
down; each job is in trouble every few minutes, and the store refuses for 20 s once and hangs for 20 s once. Raw results
and a ledger of what happened are kept; it ends with an error where the judge finds a fault. Windows are reduced in the
process itself: the fake Flink needs most of one core, and beside a JVM the ticks would tell of the machine.

    python -m benchmarks.soak --minutes 15 --jobs 500 --seed 1
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.soak_judge import judge
from benchmarks.soak_plan import Setting
from benchmarks.soak_run import Soak
from benchmarks.soak_truth import written
from headgate.options.service import Pipeline

RESULTS = Path(__file__).with_name("results") / "soak"
RUN, LEDGER = "run.json", "ledger.csv"


def main(
    minutes: Annotated[float, typer.Option(help="How long.")] = 15.0,
    jobs: Annotated[int, typer.Option(help="Number of jobs.")] = 500,
    *,
    seed: Annotated[int, typer.Option(help="Decides what happens.")] = 1,
    tick_s: Annotated[float, typer.Option(help="Between two ticks; all else is counted in these.")] = 10.0,
    pipeline: Annotated[Pipeline, typer.Option(help="Where windows are reduced.")] = Pipeline.IN_PROCESS,
    results: Annotated[Path, typer.Option(help="Directory that takes the raw results.")] = RESULTS,
) -> None:
    """Run, keep the raw results, and judge them."""
    setting = Setting(seed=seed, jobs=jobs, duration_s=60 * minutes, tick_s=tick_s)
    with tempfile.TemporaryDirectory() as directory:
        run, ledger = asyncio.run(Soak(setting, pipeline, Path(directory)).run())
    results.mkdir(parents=True, exist_ok=True)
    (results / RUN).write_text(json.dumps(run) + "\n", encoding="utf-8")
    (results / LEDGER).write_text(written(ledger), encoding="utf-8")
    if faults := list(judge(run, ledger).faults()):
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    typer.run(main)
