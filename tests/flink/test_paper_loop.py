"""
The loop of the 2021 paper on a plain Flink: its policy, savepoint-and-redeploy, and TaskManagers as they are needed.

The scheduler is the default one, which cannot rescale. Every TaskManager is one of Headgate's, with one slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate.demo.loadjob import ENTRY_CLASS, FileProfile, LoadJobSpec, Stage
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import LAB
from headgate.providers.folder import end_workers
from headgate.providers.local import FOLDER
from headgate.testing.process import HeadgateProcess

pytestmark = [pytest.mark.flink, pytest.mark.long]

LIMIT = timedelta(minutes=3)
"""For one step; half a minute is usual."""
COST_US = 2500
LOW, HIGH, MIDDLE = 100.0, 700.0, 360.0
"""Records/s; the one stage is busy 0.25, 1.75 and 0.9 times, for which 70 % busy ones are needed: 1, 3 and 2."""
VERTICES = 3
"""Source and sink cost nothing: the job as a whole is a third as busy as its stage."""


@pytest.fixture
def bare(runtime: FlinkRuntime) -> Iterator[LocalCluster]:
    """Give a JobManager with the default scheduler; TaskManagers are the provider's."""
    settings = {**LAB, "jobmanager.scheduler": "default"}
    with LocalCluster(runtime=runtime, task_managers=0, slots=1, settings=settings) as cluster:
        try:
            yield cluster
        finally:
            end_workers(cluster.directory / FOLDER)


def written(cluster: LocalCluster, jar: Path, spec: LoadJobSpec) -> Mapping[str, object]:
    """Write what an operator would, with short windows."""
    return {
        "clusters": [
            {
                "name": "lab",
                "url": cluster.url,
                "workers": {"provider": "here", "min": 1, "max": 3, "scale-down.interval": "4 s"},
            }
        ],
        "mode": "act",
        "pipeline": "in-process",
        "collect.interval": "1 s",
        "decide.interval": "1 s",
        "headgate.plugins": {
            "here": {"class": "local-processes", "directory": str(cluster.directory)},
            "paper": {
                "class": "hpa",
                "window": "5 s",
                "lag.minimum": "200",
                "scale-down.stabilization-window": "4 s",
            },
        },
        "job.autoscaler": {
            "metrics.window": "10 s",
            "stabilization.interval": "2 s",
            "utilization.target": round(0.7 / VERTICES, 3),
            "metric.evaluator.class": "paper",
            "scaling.realizer.class": "savepoint-redeploy",
            "scale-down.interval": "0 s",
            "scale-down.max-factor": 1,
            "scaling.parallelism-alignment.mode": "OFF",
            # Workers stay while a rescale may still be taken back.
            "rollback.observation": "3 s",
        },
        "jobs": [
            {
                "match": f"lab/{spec.name}",
                "launch": {
                    "jar": str(jar),
                    "entry-class": ENTRY_CLASS,
                    "args": list(spec.arguments()),
                    "parallelism": 1,
                },
            }
        ],
    }


class Loop:
    """The job, its cluster and its load, by Flink's own word."""

    def __init__(self, cluster: LocalCluster, spec: LoadJobSpec, profile: FileProfile) -> None:
        """Look at nothing yet."""
        self._url, self._spec, self._profile = cluster.url, spec, profile

    def load(self, per_s: float) -> None:
        """Let so many records come from now on."""
        self._profile.set_rate(datetime.now(UTC) - self._spec.epoch + timedelta(seconds=0.5), per_s)

    def runs_at(self, parallelism: int, *, workers: int) -> bool:
        """Tell whether all of the one job that is alive runs so, on so many TaskManagers."""
        alive = [job for job in self._ask("/jobs/overview")["jobs"] if job["state"] == "RUNNING"]
        if len(alive) != 1 or self._ask("/overview")["taskmanagers"] != workers:
            return False
        vertices = self._ask(f"/jobs/{alive[0]['jid']}")["vertices"]
        return {(vertex["status"], vertex["parallelism"]) for vertex in vertices} == {("RUNNING", parallelism)}

    def _ask(self, path: str) -> Any:
        try:
            return call_json(f"{self._url}{path}")
        except OSError:  # Flink answers 500 when a job ends while it is looked up
            return {"jobs": [], "taskmanagers": -1, "vertices": []}


def test_the_papers_loop_follows_the_load_with_job_and_workers(bare: LocalCluster, jar: Path, tmp_path: Path) -> None:
    """A step up brings two TaskManagers and then the job that uses them; a step down takes one of both away."""
    profile = FileProfile(path=tmp_path / "load")
    stages = (Stage(name="work", cost_us=COST_US, keyed=True),)
    spec = LoadJobSpec(stages=stages, profile=profile, epoch=datetime.now(UTC), name="paper")
    loop = Loop(bare, spec, profile)
    loop.load(LOW)
    submit_job(bare.url, jar, entry_class=ENTRY_CLASS, arguments=spec.arguments())
    service_directory = tmp_path / "headgate"
    service_directory.mkdir()
    with HeadgateProcess(written(bare, jar, spec), service_directory) as service:
        service.until(lambda: loop.runs_at(1, workers=1), limit=LIMIT)
        loop.load(HIGH)
        service.until(lambda: loop.runs_at(3, workers=3), limit=LIMIT)
        loop.load(MIDDLE)
        service.until(lambda: loop.runs_at(2, workers=2), limit=LIMIT)
    assert not service.lines("RescaleNotReached"), service.said
    reasons = [line["reason"] for line in service.lines("decision", "lab/paper")]
    assert reasons.index("WorkersAwaited") < reasons.index("Rescaled"), "the job was stopped before its workers came"
