"""One run: a broker, a cluster and a job, a load that steps up and down, and the broker away in between."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.kafka_lag_setting import COURSE, SCRIPT, SeededLoad, headgate
from headgate.demo.kafka.broker import Broker
from headgate.demo.kafka.draw import COST_US, WORK
from headgate.demo.kafka.job import ENTRY_CLASS, build_kafka_jar
from headgate.demo.kafka.topics import PARTITIONS, Writer
from headgate.demo.kafka.watch import KafkaWatcher
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.preparation import find_runtime
from headgate.errors import HeadgateError, UnreachableError
from headgate.rescales.rest import Rest
from headgate.testing.process import HeadgateProcess

_POLL_S = 0.25
_LEAD_S = 15.0
"""Before Headgate begins: the job reads and takes its first checkpoints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What runs."""

    url: str
    job_id: str
    broker: Broker
    writer: Writer
    folder: Path


def measured(arm: str, seed: int, logs: Path | None) -> dict[str, Any]:
    """Run one seed by one way, and give what was seen."""
    load, before = SeededLoad.of(seed), os.getloadavg()[0]
    with _set_up(f"{arm}-{seed}", logs) as scene:
        scene.writer.per_s = load.low_per_s
        scene.writer.start()
        time.sleep(_LEAD_S)
        with _steered(scene, arm):
            looks = _follow(scene, load, by_script=arm == SCRIPT)
        written = scene.writer.stop()
    return {
        "load": [before, os.getloadavg()[0]],
        "cores": os.cpu_count(),
        "written": written,
        "looks": looks,
    }


@contextmanager
def _set_up(name: str, logs: Path | None) -> Iterator[Scene]:
    runtime = find_runtime()
    jar = build_kafka_jar(runtime.java, runtime.home)
    with TemporaryDirectory() as temporary:
        places = [Path(temporary) / each for each in ("kafka", "flink")]
        folder = (logs or Path(temporary)) / f"{name}-{datetime.now(UTC):%H%M%S}"
        for place in (*places, folder):
            place.mkdir()
        with (
            Broker(runtime.java, places[0]) as broker,
            LocalCluster(runtime=runtime, task_managers=2, slots=4, directory=places[1]) as cluster,
        ):
            for topic in ("in", "out"):
                broker.create(topic, PARTITIONS)
            arguments = [f"brokers={broker.address}", f"costUs={COST_US}"]
            job_id = submit_job(cluster.url, jar, entry_class=ENTRY_CLASS, arguments=arguments)
            writer = Writer(broker.address, "in")
            yield Scene(url=cluster.url, job_id=job_id, broker=broker, writer=writer, folder=folder)


def _steered(scene: Scene, arm: str) -> AbstractContextManager[object]:
    if arm == SCRIPT:
        return nullcontext()
    return HeadgateProcess(headgate(arm, scene.url, scene.broker.address), scene.folder)


def _follow(scene: Scene, load: SeededLoad, *, by_script: bool) -> list[list[float]]:
    """Look until the course is over; a look is when, at which parallelism, whether all runs, and what waits."""
    watcher, looks = KafkaWatcher(scene.url, scene.job_id, scene.writer), list[list[float]]()
    epoch_s = time.monotonic() + COURSE.warm_up_s
    away = threading.Timer(COURSE.warm_up_s + COURSE.away_at_s, _go_away, [scene.broker])
    away.start()
    asked = load.sized(-1)
    while (at_s := time.monotonic() - epoch_s) < COURSE.high_s + COURSE.low_s:
        scene.writer.per_s = load.per_s(at_s)
        if by_script and load.sized(at_s) != asked:
            asked = load.sized(at_s)
            _ask(scene, asked)
        now = datetime.now(UTC)
        seen = watcher.look(now, now)
        if seen is not None:
            looks.append([round(at_s, 2), seen.parallelism[WORK], float(seen.running), round(seen.lag_records)])
        time.sleep(_POLL_S)
    away.join()
    return looks


def _ask(scene: Scene, size: int) -> None:
    rest = Rest(url=scene.url)
    bounds = rest.get(f"/jobs/{scene.job_id}/resource-requirements")
    wanted = {vertex: {"parallelism": {"lowerBound": 1, "upperBound": size}} for vertex in bounds}
    with suppress(HeadgateError):
        rest.send("PUT", f"/jobs/{scene.job_id}/resource-requirements", wanted)


def _go_away(broker: Broker) -> None:
    broker.stop()
    time.sleep(COURSE.away_s)
    with suppress(UnreachableError):
        broker.start()
