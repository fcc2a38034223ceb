"""
What a cycle costs for a whole fleet: 60 samples a vertex in the log's own layout, from the files to the decisions.

Beside each figure stands what the same files cost Spark alone in the same run, so that it can be judged on a machine
that does other work as well: their scan, and their reduction to one row a vertex.

    python -m benchmarks.fleet --jobs 1000 --jobs 10000
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import structlog
import typer
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks.fleet_log import fleet_log
from benchmarks.memory import propose_in_memory
from benchmarks.stopwatch import Spent, Stopwatch
from benchmarks.workload import INTERVAL, NOW, VERTICES, WINDOW, Fleet
from headgate.cli.run import collect_garbage_rarely
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.outbox import Outbox
from headgate.engines.flink.local.java import find_java
from headgate.model.tables import SAMPLES
from headgate.options.service import Mode
from headgate.pipeline.live import SparkEvaluator, warm_up
from headgate.pipeline.schemas import spark_schema
from headgate.pipeline.session import open_session
from headgate.pipeline.windows import Bounds, reduce_windows, within_window
from headgate.samplelog.reader import LogReader
from headgate.samplelog.writer import SampleLog
from headgate.stores.opening import open_store
from headgate.testing.fakes import FakeEngine, RecordingEvents

RESULTS = Path(__file__).with_name("results") / "fleet.json"
PHASES = ("propose in memory", "Spark: scan", "Spark: scan and reduce", "evaluation", "whole cycle")

Measured = Mapping[str, list[Spent]]


def main(
    jobs: Annotated[list[int], typer.Option(help="Number of jobs; may be repeated.")] = [1000, 10_000, 50_000],  # noqa: B006
    times: Annotated[int, typer.Option(help="How often each is measured, after one time that does not count.")] = 3,
) -> None:
    """Measure, print a table and keep the raw numbers."""
    collect_garbage_rarely()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    measured: dict[int, Measured] = {}
    with _session() as session:
        for count in jobs:
            measured[count] = _measure(session, Fleet(jobs=count), times)
    Console(width=100).print(_table(measured))
    RESULTS.parent.mkdir(exist_ok=True)
    raw = {
        str(count): {name: [asdict(one) for one in runs] for name, runs in of.items()} for count, of in measured.items()
    }
    RESULTS.write_text(json.dumps({"vertices a job": VERTICES, "seconds": raw}, indent=1) + "\n", encoding="utf-8")


def _measure(session: SparkSession, fleet: Fleet, times: int) -> Measured:
    root = fleet_log(fleet)
    rows, bounds = _rows(session, root), Bounds.of(fleet.candidates(NOW))
    measured = {"propose in memory": _repeated(propose_in_memory(fleet, times + 1), times)}
    measured["Spark: scan"] = _repeated(lambda _: _run(rows), times)
    reduced = rows.transform(within_window, bounds).transform(reduce_windows)
    measured["Spark: scan and reduce"] = _repeated(lambda _: _run(reduced), times)
    with tempfile.TemporaryDirectory() as directory:
        cycle = _cycle(session, root, Path(directory))
        # Later by a little each time, as in life: nothing may rest on equal instants.
        instants = [NOW + timedelta(milliseconds=n) for n in range(times + 1)]
        evaluations = [fleet.candidates(at) for at in instants]
        measured["evaluation"] = _repeated(lambda n: cycle.evaluator.evaluate(evaluations[n], instants[n]), times)
        observations = [fleet.observations() for _ in instants]
        measured["whole cycle"] = _repeated(lambda n: asyncio.run(cycle.run(observations[n], instants[n])), times)
    return measured


def _repeated(call: Callable[[int], object], times: int) -> list[Spent]:
    call(0)
    spent = []
    for number in range(1, times + 1):
        watch = Stopwatch()
        with watch.phase("once"):
            call(number)
        spent.append(watch.phases["once"])
    return spent


@contextmanager
def _session() -> Iterator[SparkSession]:
    session = open_session("local[2]", java_home=find_java().home, settings={"spark.driver.memory": "4g"})
    warm_up(session)
    yield session
    session.stop()


def _rows(session: SparkSession, root: Path) -> DataFrame:
    files = LogReader(root).files("samples", NOW - WINDOW, NOW)
    return session.read.schema(spark_schema(SAMPLES)).parquet(*map(str, files))


def _run(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def _cycle(session: SparkSession, root: Path, directory: Path) -> Cycle:
    """Put the service's own cycle together, over a database on disk; it advises, so that no engine is asked."""
    engine, events = FakeEngine(), RecordingEvents()
    outbox = Outbox(store=open_store(f"sqlite:///{directory / 'state.db'}"), events=events)
    return Cycle(
        mode=Mode.ADVISE,
        evaluator=SparkEvaluator(session, root, collect_interval=INTERVAL),
        actuator=Actuator(collector=engine, realizer=engine, outbox=outbox, events=events),
        outbox=outbox,
        events=events,
        decisions=SampleLog(directory / "log"),
    )


def _table(measured: Mapping[int, Measured]) -> Table:
    table = Table("jobs", "what", "best wall s", "best CPU s", "of the scan", "wall ms a job", box=None)
    for count, of in measured.items():
        scan = _best(of["Spark: scan"])
        for name in PHASES:
            best = _best(of[name])
            ratio = f"{best.wall / scan.wall:.2f}"
            table.add_row(
                f"{count:,}", name, f"{best.wall:.2f}", f"{best.cpu:.2f}", ratio, f"{1000 * best.wall / count:.3f}"
            )
    return table


def _best(runs: list[Spent]) -> Spent:
    return Spent(min(one.wall for one in runs), min(one.cpu for one in runs))


if __name__ == "__main__":
    typer.run(main)
