"""
How soon a job runs on a new worker, and without a lost one: `python -m benchmarks.reactive`, some minutes.

Real Flink on this machine, in one run: its own reactive mode, and a session cluster whose job Headgate steers. Waits
are short on both sides, so that what is left are the mechanisms: a TaskManager's start, a checkpoint, a restart.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from benchmarks.waiting import wait_until
from headgate.demo.loadjob import ENTRY_CLASS, ConstantProfile, LoadJobSpec, Stage, build_jar
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.runtime import Application, FlinkRuntime
from headgate.engines.flink.local.settings import LAB, REACTIVE
from headgate.testing.process import HeadgateProcess

RESULTS = Path(__file__).with_name("results") / "reactive.json"
SLOTS = 2
POLL_S = 0.1
STEERED = {
    "mode": "act",
    "pipeline": "in-process",
    "collect.interval": "1 s",
    "decide.interval": "1 s",
    "job.autoscaler.execution-mode": "reactive",
    "job.autoscaler.reactive.resource-stabilization": "1 s",
    "job.autoscaler.reactive.lost-worker-timeout": "1 s",
    "job.autoscaler.metrics.window": "4 s",
    "job.autoscaler.stabilization.interval": "0 s",
    # The workers are killed on purpose, again and again: no rescale is to blame for that.
    "job.autoscaler.rollback.enabled": False,
}
"""What Headgate is told beside the cluster's address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """One worker that came and died, in seconds."""

    registered_s: float
    """From the start of its process until Flink counts its slots."""
    grown_s: float
    """From the start of its process until the job runs in them."""
    shrunk_s: float
    """From SIGKILL until the job runs without them."""


def main(repeats: int = 5) -> None:
    """Measure both, and write the results."""
    runtime = find_runtime()
    jar = build_jar(runtime.java, runtime.home)
    with reactive(runtime, jar) as cluster:
        by_flink = [measure(cluster, number) for number in range(1, repeats + 1)]
    with steered(runtime, jar) as cluster:
        by_headgate = [measure(cluster, number) for number in range(1, repeats + 1)]
    results = {"flink": [asdict(each) for each in by_flink], "headgate": [asdict(each) for each in by_headgate]}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(results, indent=1))


@contextmanager
def reactive(runtime: FlinkRuntime, jar: Path) -> Iterator[LocalCluster]:
    """Run the job as a reactive application with one TaskManager, without Headgate."""
    job = Application(jar=jar, entry_class=ENTRY_CLASS, arguments=tuple(load().arguments()))
    with LocalCluster(
        runtime=replace(runtime, application=job), task_managers=1, slots=SLOTS, settings=REACTIVE
    ) as cluster:
        wait_until(lambda: runs_in(cluster, SLOTS), poll_s=POLL_S)
        yield cluster


@contextmanager
def steered(runtime: FlinkRuntime, jar: Path) -> Iterator[LocalCluster]:
    """Run the job on a session cluster with one TaskManager, and Headgate beside it."""
    with (
        LocalCluster(runtime=runtime, task_managers=1, slots=SLOTS, settings=LAB) as cluster,
        tempfile.TemporaryDirectory() as directory,
    ):
        submit_job(cluster.url, jar, entry_class=ENTRY_CLASS, arguments=load().arguments())
        told = {**STEERED, "clusters": [{"name": "bench", "url": cluster.url}]}
        with HeadgateProcess(told, Path(directory)):
            wait_until(lambda: runs_in(cluster, SLOTS), poll_s=POLL_S)
            yield cluster


def load() -> LoadJobSpec:
    """Make a light job: what is measured is not how it copes."""
    stages = (Stage(name="work", cost_us=1000, keyed=True),)
    return LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=100), epoch=datetime.now(UTC), name="bench")


def measure(cluster: LocalCluster, number: int) -> Repeat:
    """Start the TaskManager of this number, counted from 0, and kill it again once the job has run on it."""
    began = time.monotonic()
    cluster.add_task_manager()
    registered_s = time.monotonic() - began
    wait_until(lambda: runs_in(cluster, 2 * SLOTS), poll_s=POLL_S)
    grown_s = time.monotonic() - began
    time.sleep(5)  # past the first checkpoint, from which it restarts
    began = time.monotonic()
    cluster.kill_task_manager(number)
    wait_until(lambda: runs_in(cluster, SLOTS), poll_s=POLL_S)
    shrunk_s = time.monotonic() - began
    time.sleep(5)
    return Repeat(registered_s=registered_s, grown_s=grown_s, shrunk_s=shrunk_s)


def runs_in(cluster: LocalCluster, slots: int) -> bool:
    """Tell whether all of the job runs, in so many slots."""
    try:
        jobs = call_json(f"{cluster.url}/jobs/overview")["jobs"]
        vertices: list[dict[str, Any]] = call_json(f"{cluster.url}/jobs/{jobs[0]['jid']}")["vertices"] if jobs else []
    except OSError:  # Flink answers 500 when a job changes while it is looked up
        return False
    return {(vertex["status"], vertex["parallelism"]) for vertex in vertices} == {("RUNNING", slots)}


if __name__ == "__main__":
    typer.run(main)
