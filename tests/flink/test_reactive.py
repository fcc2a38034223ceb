"""
Reactive mode on real Flink: jobs use the workers that there are, and workers follow the need of the jobs.

In Flink's own reactive mode Headgate, a process beside the cluster, starts and ends TaskManagers; under the adaptive
scheduler it divides the slots of a session cluster among jobs. What ran is told by Flink alone.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate.demo.loadjob import ENTRY_CLASS, ConstantProfile, FileProfile, LoadJobSpec, Stage
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.runtime import Application, FlinkRuntime
from headgate.engines.flink.local.settings import LAB, REACTIVE
from headgate.providers.folder import WorkerFolder, end_workers
from headgate.providers.local import FOLDER
from headgate.testing.process import HeadgateProcess

pytestmark = pytest.mark.flink

SLOTS = 2
LIMIT = timedelta(minutes=2)
"""For each thing that is waited for; a quarter of it is usual."""
AHEAD = timedelta(milliseconds=500)

FAST: Mapping[str, object] = {
    "mode": "act",
    "pipeline": "in-process",
    "collect.interval": "1 s",
    "decide.interval": "2 s",
    "job.autoscaler.execution-mode": "reactive",
    "job.autoscaler.reactive.resource-stabilization": "2 s",
    "job.autoscaler.reactive.lost-worker-timeout": "2 s",
    "job.autoscaler.metrics.window": "8 s",
    "job.autoscaler.stabilization.interval": "2 s",
    "job.autoscaler.restart.time": "3 s",
    "job.autoscaler.metrics.busy-time.aggregator": "AVG",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A cluster as Flink tells it."""

    url: str

    def get(self, path: str) -> Any:
        """Ask."""
        return call_json(f"{self.url}{path}")

    @property
    def workers(self) -> int:
        """TaskManagers that the JobManager counts."""
        return int(self.get("/overview")["taskmanagers"])

    def running(self) -> dict[str, int]:
        """Give the slots in which each job runs, by name; 0 for one that does not run whole, nothing if Flink fails."""
        try:
            return {job["name"]: self._slots(job["jid"]) for job in self.get("/jobs/overview")["jobs"]}
        except OSError:  # Flink answers 500 when a job changes while it is looked up
            return {}

    def _slots(self, job_id: str) -> int:
        vertices = self.get(f"/jobs/{job_id}")["vertices"]
        whole = all(vertex["status"] == "RUNNING" for vertex in vertices)
        return max((int(vertex["parallelism"]) for vertex in vertices), default=0) if whole else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Elastic:
    """The cluster of one reactive application, without a TaskManager of its own."""

    seen: Seen
    directory: Path
    jar: Path
    load: FileProfile
    epoch: datetime

    @property
    def folder(self) -> WorkerFolder:
        """What Headgate knows of the TaskManagers that it started."""
        return WorkerFolder(self.directory / FOLDER)

    def set_load(self, per_s: float) -> None:
        """Let so many records come from now on."""
        self.load.set_rate(datetime.now(UTC) - self.epoch + AHEAD, per_s)

    def kill_youngest(self) -> int:
        """Kill a TaskManager as a crash would, and give its process."""
        with self.folder.locked():
            victim = self.folder.living()[-1]
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGKILL)
        return victim.pid

    def pids(self) -> set[int | None]:
        """Give the processes of the TaskManagers that live."""
        with self.folder.locked():
            return {worker.pid for worker in self.folder.living()}

    def runs_on(self, workers: int) -> bool:
        """Tell whether the job runs in every slot of so many TaskManagers."""
        return self.seen.workers == workers and self.seen.running() == {"elastic": workers * SLOTS}


@pytest.fixture
def elastic(runtime: FlinkRuntime, jar: Path, tmp_path: Path) -> Iterator[Elastic]:
    """Start a reactive application whose one stage does 140 records/s in a slot that is busy for 70 % of its time."""
    load, epoch = FileProfile(path=tmp_path / "load"), datetime.now(UTC)
    spec = LoadJobSpec(
        stages=(Stage(name="work", cost_us=5000, keyed=True),), profile=load, epoch=epoch, name="elastic"
    )
    job = Application(jar=jar, entry_class=ENTRY_CLASS, arguments=tuple(spec.arguments()))
    cluster = LocalCluster(
        runtime=replace(runtime, application=job),
        task_managers=0,
        slots=SLOTS,
        settings=REACTIVE,
        directory=tmp_path / "flink",
    )
    with ExitStack() as ending:
        ending.enter_context(cluster)
        ending.callback(end_workers, cluster.directory / FOLDER)
        yield Elastic(seen=Seen(url=cluster.url), directory=cluster.directory, jar=jar, load=load, epoch=epoch)


def told_of(elastic: Elastic) -> Mapping[str, object]:
    """Give what Headgate is told: short windows, and how to start TaskManagers, of which four would be allowed."""
    workers = {"provider": "here", "min": 1, "max": 4, "scale-down.interval": "4 s"}
    provider = {"class": "local-processes", "directory": str(elastic.directory), "job-jar": str(elastic.jar)}
    return {
        **FAST,
        "clusters": [{"name": "lab", "url": elastic.seen.url, "workers": workers}],
        "headgate.plugins": {"here": provider},
    }


def test_workers_follow_the_load_and_one_that_dies_is_replaced(elastic: Elastic, tmp_path: Path) -> None:
    """
    Of a reactive application cluster without a TaskManager: the first comes at once, two more with the load.

    700 records/s need five slots, hence three TaskManagers; 70/s need one.
    """
    place = tmp_path / "headgate"
    place.mkdir()
    with HeadgateProcess(told_of(elastic), place) as headgate:
        headgate.until(lambda: elastic.runs_on(1), limit=LIMIT)
        elastic.set_load(700)
        headgate.until(lambda: elastic.runs_on(3), limit=LIMIT)

        before, victim = elastic.pids(), elastic.kill_youngest()
        headgate.until(lambda: elastic.seen.running().get("elastic") not in {None, 3 * SLOTS}, limit=LIMIT)
        headgate.until(lambda: elastic.runs_on(3), limit=LIMIT)
        assert elastic.pids() >= before - {victim}
        assert victim not in elastic.pids()

        elastic.set_load(70)
        headgate.until(lambda: elastic.runs_on(1), limit=LIMIT)
        asked = [line["workers"] for line in headgate.lines("WorkersRequested", "lab")]
        assert max(asked) == 3, "a fourth was never needed"


@pytest.fixture
def shared(runtime: FlinkRuntime, jar: Path) -> Iterator[LocalCluster]:
    """Start a session cluster of two TaskManagers with two slots each, and two jobs that have a slot each."""
    # What one job lets go of is the other's after a second, not after fifty.
    settings = {**LAB, "slot.idle.timeout": "1 s", "web.timeout": "15 s"}
    with LocalCluster(runtime=runtime, task_managers=2, slots=SLOTS, settings=settings) as cluster:
        for name in ("heavy", "light"):
            stages = (Stage(name="work", cost_us=1000, keyed=True),)
            spec = LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=50), epoch=datetime.now(UTC), name=name)
            submit_job(cluster.url, jar, entry_class=ENTRY_CLASS, arguments=spec.arguments(), parallelism=1)
        yield cluster


def weights(url: str) -> Mapping[str, object]:
    """Give what Headgate is told: one job counts twice, each keeps one slot in any case."""
    prefix = "job.autoscaler"
    jobs: Sequence[Mapping[str, object]] = [
        {"match": "lab/heavy", prefix: {"reactive.weight": 2}},
        {"match": "lab/light", prefix: {"reactive.weight": 1}},
    ]
    return {**FAST, "clusters": [{"name": "lab", "url": url}], "jobs": jobs}


@pytest.mark.long
def test_reactive_jobs_share_a_session_cluster_by_weight(shared: LocalCluster, tmp_path: Path) -> None:
    """Four slots are 3 and 1, six are 4 and 2; with two TaskManagers dead each keeps the slot that is its least."""
    seen = Seen(url=shared.url)
    with HeadgateProcess(weights(shared.url), tmp_path) as headgate:

        def until(heavy: int, light: int) -> None:
            """Wait until both run so."""
            headgate.until(lambda: seen.running() == {"heavy": heavy, "light": light}, limit=LIMIT)

        until(3, 1)
        shared.add_task_manager()
        until(4, 2)
        shared.kill_task_manager(0)
        until(3, 1)
        shared.kill_task_manager(1)
        until(1, 1)
