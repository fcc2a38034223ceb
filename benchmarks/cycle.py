"""
What one full cycle costs for 1, 100 and 1,000 jobs of 10 vertices: collect, log, window, evaluate, decide.

It runs the service's own parts, put together by `headgate.wiring`, against the fake Flink server of the test kit in a
process of its own, which is not counted. Spark runs on `local[2]` with windows of `--ticks` samples.

    python -m benchmarks.cycle --jobs 1 --jobs 100 --ticks 30
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, cast

import structlog
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.stopwatch import Spent, Stopwatch
from headgate import wiring
from headgate.control.runner import Runner
from headgate.model.tables import SAMPLES
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.options.service import ClusterOptions, LogOptions, ServiceOptions
from headgate.testing.fakes import RecordingEvents

VERTICES = 10
INTERVAL = timedelta(seconds=10)
PHASES = ("collect", "log", "window", "evaluate", "decide")


def main(
    jobs: Annotated[list[int], typer.Option(help="Number of jobs; may be repeated.")] = [1, 100, 1000],  # noqa: B006
    ticks: Annotated[int, typer.Option(help="Samples in a window.")] = 12,
    cycles: Annotated[int, typer.Option(help="Cycles that are timed; the first of all is not.")] = 3,
) -> None:
    """Measure and print a table."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    table = Table("jobs", "phase", "wall s", "CPU s", "share of CPU", "CPU ms a job", box=None)
    for count in jobs:
        spent = asyncio.run(_measure(count, ticks, cycles))
        _add_rows(table, count, spent)
    Console(width=100).print(table)


async def _measure(jobs: int, ticks: int, cycles: int) -> Mapping[str, Spent]:
    with _server(jobs) as (url, pid), tempfile.TemporaryDirectory() as directory:
        watch = Stopwatch(apart=frozenset({pid}))
        options = _options(url, Path(directory), ticks)
        async with wiring.service(options, events=RecordingEvents()) as runner:
            instants = _instants(datetime.now(UTC))
            for tick, at in zip(range(ticks), instants, strict=False):
                await runner.observe(at)
                print(f"\r{jobs} jobs: sample {tick + 1} of {ticks}", end="", file=sys.stderr)
            await runner.decide(at)
            print(f"\r{jobs} jobs: timing {cycles} cycles      ", file=sys.stderr)
            for _ in range(cycles):
                await _timed_cycle(runner, watch, next(instants))
    return {name: Spent(spent.wall / cycles, spent.cpu / cycles) for name, spent in watch.phases.items()}


async def _timed_cycle(runner: Runner, watch: Stopwatch, at: datetime) -> None:
    """Time one tick of the collector and one cycle; what lies inside another phase is taken out of it."""
    inner = Stopwatch(apart=watch.apart)
    (observer,) = cast("tuple[Any]", runner.observers)
    sink, observer._sink = observer._sink, _Timed(observer._sink, append=("log", inner))
    with inner.phase("collect and log"):
        await observer.observe(at)
    observer._sink = sink
    timed_evaluator = _Timed(runner.cycle.evaluator, evaluate=("window and evaluate", inner))
    timed_log = _Timed(runner.cycle.decisions, append_decisions=("log", inner))
    cycle = replace(runner.cycle, evaluator=timed_evaluator, decisions=timed_log)
    log_before = inner.phases["log"]
    with inner.phase("whole cycle"):
        await cycle.run(observer.latest, at)
    with inner.phase("window"):
        _only_reduce(runner, at)
    phases = inner.phases
    watch.phases["collect"] += phases["collect and log"] - log_before
    watch.phases["log"] += phases["log"]
    watch.phases["window"] += phases["window"]
    watch.phases["evaluate"] += phases["window and evaluate"] - phases["window"]
    watch.phases["decide"] += phases["whole cycle"] - phases["window and evaluate"] - (phases["log"] - log_before)


def _only_reduce(runner: Runner, at: datetime) -> None:
    """Reduce the same windows once more, without evaluating them."""
    # as everywhere, only where Spark runs
    from headgate.pipeline.schemas import spark_schema  # noqa: PLC0415
    from headgate.pipeline.windows import reduce_windows  # noqa: PLC0415

    spark: Any = runner.cycle.evaluator._evaluator  # type: ignore[attr-defined]
    files = spark._reader.files("samples", at - timedelta(hours=1), at)
    rows = spark._session.read.schema(spark_schema(SAMPLES)).parquet(*map(str, files))
    reduce_windows(rows).write.format("noop").mode("overwrite").save()


class _Timed:
    """A port, some of whose calls are timed."""

    def __init__(self, port: object, **phases: tuple[str, Stopwatch]) -> None:
        self._port = port
        for method, (phase, watch) in phases.items():
            setattr(self, method, watch.timed(phase, getattr(port, method)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


@contextmanager
def _server(jobs: int) -> Iterator[tuple[str, int]]:
    arguments = ["--jobs", str(jobs), "--vertices", str(VERTICES), "--port", "0"]
    command = [sys.executable, "-m", "headgate.testing.fake_flink", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().split()[-1] if server.stdout else "", server.pid
        finally:
            server.terminate()


def _options(url: str, directory: Path, ticks: int) -> ServiceOptions:
    return ServiceOptions(
        clusters=(ClusterOptions(name="fake", url=url),),
        collect_interval=INTERVAL,
        state_store=f"sqlite:///{directory / 'state.db'}",
        log=LogOptions(path=str(directory / "log")),
        spark_master="local[2]",
        autoscaler=AutoscalerOptions(
            metrics_window=ticks * INTERVAL,
            stabilization_interval=timedelta(),
            busy_time_aggregator=BusyTimeAggregator.AVG,
        ),
    )


def _add_rows(table: Table, jobs: int, spent: Mapping[str, Spent]) -> None:
    whole = sum((spent[name] for name in PHASES), Spent())
    for name, one in [*((name, spent[name]) for name in PHASES), ("all", whole)]:
        share = one.cpu / whole.cpu if whole.cpu else 0.0
        table.add_row(
            f"{jobs:,}", name, f"{one.wall:.3f}", f"{one.cpu:.3f}", f"{share:.0%}", f"{1000 * one.cpu / jobs:.2f}"
        )


def _instants(begin: datetime) -> Iterator[datetime]:
    """Label ticks as if they were taken at the service's cadence, while they are taken as fast as can be."""
    return (begin + tick * INTERVAL for tick in itertools.count())


if __name__ == "__main__":
    typer.run(main)
