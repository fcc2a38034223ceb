"""`headgate demo`: the whole, on a cluster of its own."""

from __future__ import annotations

import secrets
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from headgate.cli import console
from headgate.demo.play import PHASE_LENGTH, play
from headgate.demo.reactive.play import PHASE_LIMIT, play_reactive
from headgate.demo.spark.play import SPARK_PHASE_LENGTH, play_spark
from headgate.errors import PermanentError

_RANDOM = "random"


def demo(
    seed: Annotated[str, typer.Option(help="Number that fixes the workload, or `random`.")] = _RANDOM,
    *,
    reactive: Annotated[bool, typer.Option("--reactive", help="TaskManagers come, die and go; a job follows.")] = False,
    spark: Annotated[bool, typer.Option("--spark", help="A PySpark application with two added lines.")] = False,
    kafka: Annotated[
        bool, typer.Option("--kafka", help="A job that reads Kafka, whose broker is killed once.")
    ] = False,
    dry_run: Annotated[bool, typer.Option(help="Headgate only advises: the judge must find it failing.")] = False,
    phase_seconds: Annotated[
        float | None, typer.Option(help="Length of each phase, 40 at least; with --reactive the most that it may take.")
    ] = None,
    keep_logs: Annotated[Path | None, typer.Option(help="Directory that receives logs and data.")] = None,
) -> None:
    """
    Start a real Flink cluster, step a job's load up and down, and let Headgate follow it.

    Takes four minutes, with --kafka six, once Java and Flink are fetched. Ends with a table of parallelism wanted and
    reached; the exit status is 0 only if every phase reached its optimum. Leaves nothing behind.

    With --reactive the job uses all TaskManagers that there are, and Headgate starts and ends these: as the load
    rises, when one is killed, and when it falls again.

    With --kafka the job copies one topic to another, exactly once; the broker tells Headgate what waits, is killed once
    and comes back, and in the end every record is counted. Needs `pip install headgate[kafka]` and Maven.

    With --spark it is a PySpark application on a standalone cluster, whose executors follow its load.
    """
    number = secrets.randbelow(1_000_000) if seed == _RANDOM else _number(seed)
    console.out.print(f"seed {number} (repeat this run with --seed {number})")
    length = None if phase_seconds is None else timedelta(seconds=phase_seconds)
    if reactive + spark + kafka > 1:
        message = "--reactive, --spark and --kafka are demos of their own"
        raise typer.BadParameter(message, param_hint="--reactive")
    with console.failures():
        if spark:
            phase = length or SPARK_PHASE_LENGTH
            raise typer.Exit(play_spark(number, dry_run=dry_run, phase=phase, keep_logs=keep_logs))
        if kafka:
            raise typer.Exit(_play_kafka(number, dry_run=dry_run, phase=length, keep_logs=keep_logs))
        if reactive:
            raise typer.Exit(play_reactive(number, dry_run=dry_run, limit=length or PHASE_LIMIT, keep_logs=keep_logs))
        raise typer.Exit(play(number, dry_run=dry_run, phase=length or PHASE_LENGTH, keep_logs=keep_logs))


def _play_kafka(seed: int, *, dry_run: bool, phase: timedelta | None, keep_logs: Path | None) -> int:
    try:
        # An extra: only who wants this demo needs the driver.
        from headgate.demo.kafka.play import KAFKA_PHASE_LENGTH, play_kafka  # noqa: PLC0415
    except ModuleNotFoundError as error:
        message = "the driver of kafka is missing. Hint: pip install headgate[kafka]"
        raise PermanentError(message) from error
    return play_kafka(seed, dry_run=dry_run, phase=phase or KAFKA_PHASE_LENGTH, keep_logs=keep_logs)


def _number(seed: str) -> int:
    if not seed.isdecimal():
        message = f"{seed!r} is neither a number nor `{_RANDOM}`"
        raise typer.BadParameter(message, param_hint="--seed")
    return int(seed)
