"""
Does on a standalone cluster what the service does there, and tells what came of it as one JSON object.

    python standalone_program.py MASTER PYTHON_OF_THE_WORKERS TASK ANSWER

TASK is a pickle of what to evaluate and to replay, ANSWER the file that is written.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from pyspark.sql import SparkSession

from headgate.engines.flink.local.java import find_java
from headgate.engines.flink.remote import run_errands
from headgate.errors import HeadgateError
from headgate.pipeline.executors import Executors, Work
from headgate.pipeline.live import SparkEvaluator
from headgate.pipeline.session import open_session
from headgate.replay.distributed import replay_on_spark
from headgate.samplelog.reader import LogReader
from headgate.telemetry.exposition import compressed
from headgate.testing.small_fleet import NAMES, Seen, small_fleet


def settings_for(workers_python: str) -> dict[str, str]:
    """Give the settings of a session whose executors fit on small workers of this machine."""
    loopback = dict.fromkeys(("spark.driver.host", "spark.driver.bindAddress"), "127.0.0.1")
    return {
        **loopback,
        "spark.pyspark.python": workers_python,
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.sql.shuffle.partitions": "2",
    }


def bare_session(master: str, settings: dict[str, str]) -> SparkSession:
    """Start the session that Headgate will find."""
    os.environ["PYSPARK_PYTHON"] = settings["spark.pyspark.python"]
    builder: SparkSession.Builder = SparkSession.builder
    return builder.master(master).appName("bare").config(map=dict(settings)).getOrCreate()


def on_workers(session: SparkSession, work: Work, *tasks: bytes) -> list[str]:
    """Do something on the workers, each task in a part of its own; or why it was not done."""
    executors = Executors(session=lambda: session, work=work, time_limit=timedelta(seconds=60))
    try:
        done = executors.run(tasks, [1] * len(tasks))
    except HeadgateError as error:
        return [str(error)]
    return [each if isinstance(each, str) else each.decode() for each in done]


def origins(names: Sequence[bytes]) -> list[bytes]:
    """Tell where a worker has modules from; empty where it has none."""
    from importlib.util import find_spec  # noqa: PLC0415 - a worker is sent the function alone

    found = (find_spec(name.decode()) for name in names)
    return [str(each.origin).encode() if each else b"" for each in found]


def die_of_poison(tasks: Sequence[bytes]) -> Sequence[bytes]:
    """End the worker's process where a task says so."""
    if b"poison" in tasks:
        os._exit(1)
    return tasks


def stumble(tasks: Sequence[bytes]) -> Sequence[bytes]:
    """Fail where a task says so."""
    return [bytes(1 // len(task)) for task in tasks]


async def collected(session: SparkSession) -> list[dict[str, str]]:
    """Collect three ticks in the service and on the workers; the counters of one cluster begin anew between."""
    crew = Executors(session=lambda: session, work=run_errands, time_limit=timedelta(seconds=60)).run
    async with small_fleet(crew) as fleet:
        first = await fleet.tick()
        fleet.begin_anew(NAMES[0])
        return [_told(seen) for pair in (first, await fleet.tick(), await fleet.tick()) for seen in pair]


def _told(seen: Seen) -> dict[str, str]:
    return {str(job): repr(each) for job, each in seen.items()}


def main(master: str, workers_python: str, task: dict[str, Any]) -> dict[str, object]:
    """Do everything, one after the other."""
    settings = settings_for(workers_python)
    bare = bare_session(master, settings)
    before = bare.sparkContext.parallelize([b"headgate"], 1).map(lambda name: origins([name])[0].decode()).collect()
    session = open_session(master, java_home=find_java().home, settings=settings)
    evaluator = SparkEvaluator(session, task["log"], collect_interval=task["interval"])
    return {
        "headgate before": before,
        "headgate after": on_workers(session, origins, b"headgate"),
        "tick": repr(dict(evaluator.evaluate(task["candidates"], task["now"]))),
        "collected": asyncio.run(collected(session)),
        "lost": on_workers(session, die_of_poison, b"poison", b"water"),
        "failed": on_workers(session, stumble, b"", b"1"),
        "lacking": on_workers(session, cast("Work", compressed), b"any"),
        "replay": sorted(map(repr, replay_on_spark(session, LogReader(task["recorded"]), *task["replay"]))),
    }


if __name__ == "__main__":
    told = main(sys.argv[1], sys.argv[2], pickle.loads(Path(sys.argv[3]).read_bytes()))  # noqa: S301 - the test's own
    Path(sys.argv[4]).write_text(json.dumps(told), encoding="utf-8")
