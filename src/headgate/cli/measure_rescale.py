"""`headgate measure-rescale`: what a rescale costs, measured on a real cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from headgate.cli import console
from headgate.demo.loadjob import build_jar
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.progress import to_stderr
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.options.units import parse_duration
from headgate.rescales.clusters import existing_cluster, own_cluster
from headgate.rescales.machine import describe_machine
from headgate.rescales.measure import Measuring, Order, done_runs
from headgate.rescales.plan import plan_text
from headgate.rescales.plots import draw_plots
from headgate.rescales.rest import Rest
from headgate.rescales.runs_file import RunsFile
from headgate.rescales.series import Factors, draw_series
from headgate.rescales.table import cost_table

_INTERRUPTED = 130


def measure_rescale(
    url: Annotated[
        str | None, typer.Option(help="REST address of a cluster to use, as http://HOST:8081; by default an own one.")
    ] = None,
    *,
    budget: Annotated[
        str, typer.Option(help="How long it may take, as `45m`; minutes more where a rescale hangs.")
    ] = "45m",
    seed: Annotated[int, typer.Option(help="Number that fixes the order of the series.")] = 1,
    runs: Annotated[
        Path, typer.Option(help="File that receives a line a rescale; what it has is not measured again.")
    ] = Path("rescale_runs.csv"),
    plan: Annotated[bool, typer.Option("--plan", help="Only say what would be measured, and in what time.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Only show the table of what the file has.")] = False,
    plots: Annotated[Path | None, typer.Option(help="With --report: directory that receives the plots (SVG).")] = None,
) -> None:
    """
    Rescale a real job again and again, and write down what each rescale costs.

    A job with 0, 10, 100 or 500 MB of state, on the heap or in RocksDB, is brought from parallelism 1, 2, 4 or 8 to
    another, in place or with a savepoint and a new start, in a random order that --seed fixes. The cells that differ
    most come first, five times; the others as often as the budget allows. Each rescale is divided into waiting for the
    checkpoint, savepoint, teardown, redeploy, loading of the state, first output, and catching up.

    Each line is on disk before the next rescale begins. So it may be interrupted (Ctrl-C) and called again with the
    same seed: it goes on where it was.

    A cluster of your own needs 8 free slots, the adaptive scheduler, web.adaptive-scheduler.rescale-history.size,
    execution.checkpointing.interval, .dir and .savepoint-dir: there it measures your disks and your network, which is
    the point.
    """
    file = RunsFile(runs)
    with console.failures():
        order = Order(seed=seed, blocks=draw_series(seed), budget=parse_duration(budget))
        if report:
            _report(file, plots)
        elif plan:
            console.out.print(plan_text(order, done_runs(file.rows(), order)))
        else:
            _measure(order, file, url)


def _measure(order: Order, file: RunsFile, url: str | None) -> None:
    done_runs(file.rows(), order)  # before anything is started: it may be the file of another series
    runtime = find_runtime(progress=to_stderr)
    jar = build_jar(runtime.java, runtime.home, progress=to_stderr)
    try:
        with _cluster(runtime, url) as rest:
            java = None if url else runtime.java
            file.note(describe_machine(rest.get("/config")["flink-version"], java, now=datetime.now(UTC)))
            Measuring(order=order, file=file, jar=jar, tell=to_stderr).go_through(rest)
    except KeyboardInterrupt:
        to_stderr(f"interrupted; {file.path} has all that was measured, and the same call goes on from there")
        raise typer.Exit(_INTERRUPTED) from None
    console.out.print(f"{len(file.rows())} rescales in {file.path}")


def _cluster(runtime: FlinkRuntime, url: str | None) -> AbstractContextManager[Rest]:
    return existing_cluster(url, slots=max(Factors().parallelisms)) if url else own_cluster(runtime)


def _report(file: RunsFile, plots: Path | None) -> None:
    rows = file.rows()
    console.out.print(cost_table(rows), markup=False)
    if plots is not None:
        for path in draw_plots(rows, plots):
            console.out.print(str(path))
