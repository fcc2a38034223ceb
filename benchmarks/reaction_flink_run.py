"""One repeat of one way to rescale: a cluster, a job, a step up and a step down; and one steady load."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.reaction_flink_figures import Look, Step, answered
from benchmarks.reaction_flink_setting import (
    CLUSTERS,
    REACTIONS,
    SCRIPT,
    SETTING,
    SLOTS,
    STEADY_ARM,
    TASK_MANAGERS,
    Sizes,
    Steady,
    headgate,
    phase_s,
)
from benchmarks.reaction_flink_watch import Job
from headgate.demo.loadjob import ENTRY_CLASS, FileProfile, build_jar
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import Settings
from headgate.rescales.rest import Rest
from headgate.testing.process import HeadgateProcess

AHEAD = timedelta(seconds=1)
"""How long before it holds a rate is written: the source reads the file five times a second."""
_STEADY_POLL_S = 0.5

Ask = Callable[[Sizes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machinery:
    """What all runs need."""

    runtime: FlinkRuntime
    jar: Path
    logs: Path | None
    """Keeps what Headgate said; None: nothing does."""

    @classmethod
    def found(cls, logs: Path | None) -> Machinery:
        """Find Java and Flink, and build the job."""
        runtime = find_runtime()
        return cls(runtime=runtime, jar=build_jar(runtime.java, runtime.home), logs=logs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A job on a cluster of its own, and its load."""

    url: str
    job: Job
    load: FileProfile
    epoch: datetime
    folder: Path
    """Empty; for Headgate."""

    def set_load(self, per_s: float) -> datetime:
        """Let another load come, and tell from when on it does."""
        at = datetime.now(UTC) + AHEAD
        self.load.set_rate(at - self.epoch, per_s)
        return at


def stepped(machinery: Machinery, cluster: str, arm: str, repeat: int) -> dict[str, Any]:
    """Let the load of a job step up and down, and give what was seen."""
    with set_up(machinery, CLUSTERS[cluster].settings, f"{cluster}-{arm}-{repeat}") as scene:
        began, before = datetime.now(UTC), os.getloadavg()[0]
        scene.set_load(SETTING.low_per_s)
        time.sleep(SETTING.warm_up_s)
        with _steered(scene, arm):
            time.sleep(SETTING.lead_s)
            ask: Ask = scene.job.ask if arm == SCRIPT else _nothing
            steps = {
                name: _step(scene, per_s, ask, drawn_s=phase_s(cluster, arm, repeat, name), cluster=cluster).told
                for name, per_s in (("up", SETTING.high_per_s), ("down", SETTING.low_per_s))
            }
    return circumstances(began, before, steps)


def held(machinery: Machinery, steady: Steady, aggregator: str) -> dict[str, Any]:
    """Leave a job that has its right size alone with Headgate, and give what was seen."""
    per_s = SETTING.per_s(steady.agg, steady.busy)
    sizes = SETTING.sizes(per_s)
    with set_up(machinery, CLUSTERS["short"].settings, f"steady-{steady.busy:g}-{aggregator}") as scene:
        began, before = datetime.now(UTC), os.getloadavg()[0]
        scene.job.ask(sizes)
        scene.job.await_sizes(sizes)
        scene.set_load(per_s)
        time.sleep(SETTING.warm_up_s)
        with _steered(scene, STEADY_ARM, aggregator=aggregator):
            since = datetime.now(UTC)
            looks = scene.job.follow(since, lambda seen: seen[-1].at_s >= SETTING.steady_s, poll_s=_STEADY_POLL_S)
    return circumstances(began, before, {"steady": Step(per_s=per_s, looks=looks).told})


def circumstances(began: datetime, before: float, steps: dict[str, Any]) -> dict[str, Any]:
    """Give what is kept of a run."""
    return {
        "began": f"{began:%Y-%m-%d %H:%M:%S}",
        "cores": os.cpu_count(),
        "load": [before, os.getloadavg()[0]],
        "steps": steps,
    }


@contextmanager
def set_up(machinery: Machinery, settings: Settings, name: str) -> Iterator[Scene]:
    """Run the job, which has no load yet, on a cluster of its own."""
    with (
        LocalCluster(runtime=machinery.runtime, task_managers=TASK_MANAGERS, slots=SLOTS, settings=settings) as running,
        TemporaryDirectory() as temporary,
    ):
        load, epoch = FileProfile(path=Path(temporary) / "load"), datetime.now(UTC)
        arguments = SETTING.job(load, epoch=epoch).arguments()
        job_id = submit_job(running.url, machinery.jar, entry_class=ENTRY_CLASS, arguments=arguments)
        job = Job(Rest(url=running.url), job_id)
        folder = (machinery.logs or Path(temporary)) / f"{name}-{epoch:%H%M%S}"
        folder.mkdir()
        yield Scene(url=running.url, job=job, load=load, epoch=epoch, folder=folder)


def _steered(scene: Scene, arm: str, *, aggregator: str = "AVG") -> AbstractContextManager[object]:
    if arm not in REACTIONS:
        return nullcontext()
    return HeadgateProcess(headgate(arm, scene.url, aggregator=aggregator), scene.folder)


def _step(scene: Scene, per_s: float, ask: Ask, *, drawn_s: float, cluster: str) -> Step:
    """Let the load step, and look until the job has answered, or it has taken too long."""
    time.sleep(drawn_s)
    since = scene.set_load(per_s)
    limit_s = CLUSTERS[cluster].limit_s

    def over(seen: list[Look]) -> bool:
        so_far = Step(per_s=per_s, looks=seen)
        return seen[-1].at_s >= limit_s or answered(so_far, hold_s=SETTING.hold_s)

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(_at, since, ask, SETTING.sizes(per_s))
        looks = scene.job.follow(since, over)
        asking.result()
    return Step(per_s=per_s, looks=looks, phase_s=drawn_s)


def _at(instant: datetime, ask: Ask, sizes: Sizes) -> None:
    time.sleep(max(0.0, (instant - datetime.now(UTC)).total_seconds()))
    ask(sizes)


def _nothing(_: Sizes) -> None:
    """Leave it to Headgate."""
