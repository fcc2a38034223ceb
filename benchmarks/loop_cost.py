"""
What the control loop costs a job and tick: CPU seconds of all processes, calls, new connections, bytes.

`headgate run` looks after 10, 100 and 1,000 jobs of ten vertices, all balanced, on a fake Flink in a process of its own
behind a relay that counts. Each of its ticks collects, evaluates and decides. The first rounds are not counted. Where
there are a hundred jobs or more it is measured again with `headgate.reaction: fast`, and one in a hundred changing.

    python -m benchmarks.loop_cost --jobs 10 --jobs 100 --jobs 1000

Another autoscaler is set beside it on the same server: start that alone, point the autoscaler at it, and end it.

    python -m benchmarks.loop_cost --server-only --jobs 100 --port 8081
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.loop_cost_run import Pace, measure
from benchmarks.loop_cost_server import serve
from headgate.options.service import Pipeline

RESULTS = Path(__file__).with_name("results") / "loop_cost.json"


def main(
    jobs: Annotated[list[int], typer.Option(help="Number of jobs; may be repeated.")] = [10, 100, 1000],  # noqa: B006
    *,
    rounds: Annotated[int, typer.Option(help="Ticks that count.")] = 12,
    interval_s: Annotated[float, typer.Option(help="Between two ticks.")] = 10.0,
    pipeline: Annotated[Pipeline, typer.Option(help="Where windows are reduced.")] = Pipeline.IN_PROCESS,
    server_only: Annotated[bool, typer.Option("--server-only", help="Measure nothing: only serve and count.")] = False,
    port: Annotated[int, typer.Option(help="Of the server alone; 0 takes a free one.")] = 0,
    results: Annotated[Path, typer.Option(help="File that takes the raw results.")] = RESULTS,
) -> None:
    """Measure, print and keep the raw results."""
    if server_only:
        asyncio.run(serve(jobs[0], port))
        return
    pace = Pace(rounds=rounds, interval_s=interval_s, pipeline=pipeline)
    fleets = [(count, 0) for count in jobs] + [(count, count // 100) for count in jobs if count >= 100]  # noqa: PLR2004
    costs = [asdict(measure(count, pace, changing)) for count, changing in fleets]
    machine = {"cores": os.cpu_count(), "load": os.getloadavg()[2]}
    results.write_text(json.dumps({"setting": asdict(pace), "machine": machine, "costs": costs}, indent=1) + "\n")
    print(results.read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
