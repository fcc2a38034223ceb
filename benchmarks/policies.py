"""
The 2021 paper's loop beside Headgate's, and two that never rescale: `python -m benchmarks.policies`, 20 minutes.

Real Flink on this machine, one run after another, only the two static ones at once: the same job under the same sine.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import typer

from benchmarks.policies_run import POLL_S, Setting, Watch, job_of, provided, running_job, staffed
from benchmarks.waiting import wait_until
from headgate.demo.loadjob import ENTRY_CLASS, LoadJobSpec, build_jar
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import LAB
from headgate.testing.process import HeadgateProcess

RESULTS = Path(__file__).with_name("results") / "policies.json"
LEAD = timedelta(seconds=45)
"""From the job's submission until its load begins."""
HEAD_START = timedelta(seconds=15)
"""Of Headgate before the load: its windows are filled soon after that, and too short for a decision before."""
PROVIDER, PAPER = "here", "paper"

STEERED: Mapping[str, object] = {
    "mode": "act",
    "pipeline": "in-process",
    "collect.interval": "1 s",
    "decide.interval": "1 s",
}
COMMON: Mapping[str, object] = {
    "metrics.window": "12 s",
    "stabilization.interval": "3 s",
    "scale-down.interval": "15 s",
    "vertex.max-parallelism": 4,
    "scale-down.max-factor": 1,
    "scaling.parallelism-alignment.mode": "OFF",
    # Workers stay while a rescale may still be taken back.
    "rollback.observation": "5 s",
}
WORKERS: Mapping[str, object] = {"provider": PROVIDER, "min": 1, "max": 4, "scale-down.interval": "10 s"}
HPA = {"class": "hpa", "window": "10 s", "lag.minimum": "500"}
BY_PAPER: Mapping[str, object] = {
    "metric.evaluator.class": PAPER,
    "scaling.realizer.class": "savepoint-redeploy",
    # Source and sink cost nothing, so the whole job is a third as busy as its stage: 70 % of it here as well.
    "utilization.target": 0.233,
}
BY_HEADGATE: Mapping[str, object] = {
    # What the policies make of the same window is compared; how soon a change is seen stands on a page of its own.
    "reaction": "windowed",
    "metrics.busy-time.aggregator": "AVG",
    "utilization.target": 0.7,
    # A tenth around the target, as the HPA's tolerance.
    "utilization.max": 0.77,
    "utilization.min": 0.63,
    "catch-up.duration": "30 s",
    "restart.time": "5 s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to run the job."""

    scheduler: str
    begins_with: int
    """Parallelism and TaskManagers."""
    options: Mapping[str, object] | None = None
    """Of the job; None: nobody rescales it."""


SETTING = Setting()
ARMS: Mapping[str, Arm] = {
    "paper": Arm(scheduler="default", begins_with=SETTING.for_mean, options=BY_PAPER),
    "headgate": Arm(scheduler="adaptive", begins_with=SETTING.for_mean, options=BY_HEADGATE),
    "peak": Arm(scheduler="default", begins_with=SETTING.for_peak),
    "mean": Arm(scheduler="default", begins_with=SETTING.for_mean),
}
AT_ONCE = (("paper",), ("headgate",), ("peak", "mean"))


def main(repeats: int = 1, logs: Path | None = None) -> None:
    """
    Measure each arm as often, beginning each time with another one, and write the results after every run.

    Args:
        repeats: of each arm.
        logs: an existing directory that keeps what Headgate said; by default nothing does.
    """
    runtime = find_runtime()
    jar = build_jar(runtime.java, runtime.home)
    runs: list[Mapping[str, object]] = []
    for repeat, names in _order(repeats):
        with ThreadPoolExecutor() as pool:
            made = pool.map(lambda name: measured(name, runtime, jar, logs), names)
            runs += [{"arm": name, "repeat": repeat, **run} for name, run in zip(names, made, strict=True)]
        told = {"setting": asdict(SETTING), "machine": {"cores": os.cpu_count()}, "runs": runs}
        RESULTS.write_text(_compact(told), encoding="utf-8")
        print(f"measured {repeat}: {', '.join(names)}")


def measured(name: str, runtime: FlinkRuntime, jar: Path, logs: Path | None = None) -> Mapping[str, object]:
    """Run one arm on a cluster of its own, and give what was seen of it, twice a second."""
    arm = ARMS[name]
    fixed = 0 if arm.options else arm.begins_with
    settings = {**LAB, "jobmanager.scheduler": arm.scheduler}
    with (
        LocalCluster(runtime=runtime, task_managers=fixed, slots=1, settings=settings) as cluster,
        provided(cluster, arm.begins_with - fixed),
        tempfile.TemporaryDirectory() as temporary,
    ):
        wait_until(lambda: staffed(cluster.url) == arm.begins_with, poll_s=POLL_S)
        spec = job_of(name, SETTING, epoch=datetime.now(UTC) + LEAD)
        arguments = spec.arguments()
        submit_job(cluster.url, jar, entry_class=ENTRY_CLASS, arguments=arguments, parallelism=arm.begins_with)
        wait_until(lambda: running_job(cluster.url) is not None, poll_s=POLL_S)
        watch = Watch(cluster.url, spec)
        watch.await_epoch(HEAD_START)
        folder = (logs or Path(temporary)) / f"{name}-{spec.epoch:%H%M%S}"
        folder.mkdir()
        before = os.getloadavg()[0]
        with _service(arm, cluster, jar, spec, folder):
            samples = watch.follow(timedelta(seconds=SETTING.duration_s))
    return {"began": f"{spec.epoch:%Y-%m-%d %H:%M:%S}", "load": [before, os.getloadavg()[0]], "samples": samples}


def _service(
    arm: Arm, cluster: LocalCluster, jar: Path, spec: LoadJobSpec, folder: Path
) -> AbstractContextManager[object]:
    if arm.options is None:
        return nullcontext()
    launch = {"jar": str(jar), "entry-class": ENTRY_CLASS, "args": spec.arguments(), "parallelism": arm.begins_with}
    options: dict[str, Any] = {
        **STEERED,
        "clusters": [{"name": "bench", "url": cluster.url, "workers": dict(WORKERS)}],
        "headgate.plugins": {
            PROVIDER: {"class": "local-processes", "directory": str(cluster.directory)},
            PAPER: HPA,
        },
        "job.autoscaler": {**COMMON, **arm.options},
        "jobs": [{"match": f"bench/{spec.name}", "launch": launch}],
    }
    return HeadgateProcess(options, folder)


def _order(repeats: int) -> Iterator[tuple[int, Sequence[str]]]:
    for number in range(repeats):
        begin = number % len(AT_ONCE)
        yield from ((number + 1, names) for names in AT_ONCE[begin:] + AT_ONCE[:begin])


def _compact(told: Mapping[str, object]) -> str:
    """Write one sample a line: neither one number a line nor all of them on one."""
    text = json.dumps(told, indent=1)
    lines = text.replace("\n     ", " ").replace("\n    ]", " ]")
    return lines + "\n"


if __name__ == "__main__":
    typer.run(main)
