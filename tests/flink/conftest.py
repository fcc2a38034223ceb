"""A real Flink cluster on loopback, the load job's jar, and jobs that are gone when their test ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from urllib.error import HTTPError

import pytest
from tests.support.in_process import HeadgateInProcess

from headgate.demo.loadjob import ENTRY_CLASS, LoadJobSpec, build_jar
from headgate.demo.submit import cancel_job, submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import LAB, Settings
from headgate.errors import RefusedError
from headgate.testing.process import HeadgateProcess, RunningService

RUNNING_LIMIT = timedelta(seconds=60)

DEFAULT_SCHEDULER: Settings = {**LAB, "jobmanager.scheduler": "default"}
by_default_scheduler = pytest.mark.parametrize("cluster", [DEFAULT_SCHEDULER], indirect=True, ids=["default-scheduler"])
"""On a cluster that cannot rescale in place."""

SHORT_WINDOWS: Mapping[str, object] = {
    "mode": "act",
    "pipeline": "in-process",
    "collect.interval": "1 s",
    "decide.interval": "2 s",
    "job.autoscaler.metrics.window": "12 s",
    "job.autoscaler.stabilization.interval": "4 s",
    "job.autoscaler.restart.time": "5 s",
    "job.autoscaler.utilization.target": 0.7,
    "job.autoscaler.utilization.max": 0.78,
    "job.autoscaler.utilization.min": 0.62,
    "job.autoscaler.metrics.busy-time.aggregator": "AVG",
    # Down at once and in one step, not after an hour and by at most 60 %.
    "job.autoscaler.scale-down.interval": "0 s",
    "job.autoscaler.scale-down.max-factor": 1,
    # To the parallelism that arithmetic gives, not to the next divisor of the key groups.
    "job.autoscaler.scaling.parallelism-alignment.mode": "OFF",
}

RunJob = Callable[[LoadJobSpec, int], str]
"""Submits a job with this parallelism everywhere, waits until all of it runs, returns its id."""

RunHeadgate = Callable[[Mapping[str, object]], RunningService]
"""Starts the service on the test's cluster, called `lab`, to act with short windows; given options win."""

RunHeadgateProcess = Callable[[Mapping[str, object]], HeadgateProcess]


@pytest.fixture(scope="session")
def runtime() -> FlinkRuntime:
    """Return Java and Flink; `runtime.home` is Flink's directory. The first time, they are fetched."""
    return find_runtime()


@pytest.fixture(scope="session")
def jar(runtime: FlinkRuntime) -> Path:
    """Return the load job's jar."""
    return build_jar(runtime.java, runtime.home)


@pytest.fixture(scope="session")
def lab(runtime: FlinkRuntime) -> Iterator[LocalCluster]:
    """Run two TaskManagers with four slots each, for all tests that need nothing special."""
    with LocalCluster(runtime=runtime, slots=4, settings=LAB) as running:
        yield running


@pytest.fixture(scope="session")
def cluster(runtime: FlinkRuntime, request: pytest.FixtureRequest) -> Iterator[LocalCluster]:
    """Return the lab, or run as many slots with the settings that a test is parametrised with, indirectly."""
    if not hasattr(request, "param"):
        yield request.getfixturevalue("lab")
        return
    with LocalCluster(runtime=runtime, task_managers=1, slots=8, settings=request.param) as running:
        yield running


@pytest.fixture
def run_job(cluster: LocalCluster, jar: Path) -> Iterator[RunJob]:
    """Submit jobs to the test's cluster; after the test they are cancelled, and what they were replaced by."""

    def run(spec: LoadJobSpec, parallelism: int) -> str:
        job_id = submit_job(
            cluster.url,
            jar,
            entry_class=ENTRY_CLASS,
            arguments=spec.arguments(),
            parallelism=parallelism,
        )
        await_running(cluster.url, job_id)
        return job_id

    yield run
    for job in call_json(f"{cluster.url}/jobs/overview")["jobs"]:
        if job["end-time"] < 0:
            cancelled(cluster.url, job["jid"])


@pytest.fixture
def run_headgate(cluster: LocalCluster, tmp_path: Path) -> Iterator[RunHeadgate]:
    """Run the service, in this process, until the test ends."""
    with ExitStack() as stopping:
        yield lambda options: stopping.enter_context(HeadgateInProcess(_options(cluster, options), tmp_path))


@pytest.fixture
def run_headgate_process(cluster: LocalCluster, tmp_path: Path) -> Iterator[RunHeadgateProcess]:
    """Run the service as a process of its own: to kill it, or to let it have a Spark session."""
    with ExitStack() as stopping:
        yield lambda options: stopping.enter_context(HeadgateProcess(_options(cluster, options), tmp_path))


def _options(cluster: LocalCluster, options: Mapping[str, object]) -> Mapping[str, object]:
    return {"clusters": [{"name": "lab", "url": cluster.url}], **SHORT_WINDOWS, **options}


def await_running(url: str, job_id: str) -> None:
    """Wait until all tasks of a job run."""
    _await(lambda: _task_states(url, job_id), "RUNNING", job_id)


def cancelled(url: str, job_id: str) -> None:
    """Cancel a job, and wait for the end too, so that the next job finds the slots free."""
    with suppress(HTTPError, RefusedError):  # the test has ended the job itself, or the JobManager that knew it
        cancel_job(url, job_id)
        # Of a job that failed over when it was cancelled, some tasks have failed.
        _await(lambda: {call_json(f"{url}/jobs/{job_id}")["state"]}, "CANCELED", job_id)


def _task_states(url: str, job_id: str) -> set[str]:
    try:
        job = call_json(f"{url}/jobs/{job_id}")
    except HTTPError as error:  # a JobManager that has just started answers 500 until it has made the job
        return {str(error)}
    return {vertex["status"] for vertex in job["vertices"]}


def _await(ask: Callable[[], set[str]], state: str, job_id: str) -> None:
    deadline = time.monotonic() + RUNNING_LIMIT.total_seconds()
    while (states := ask()) != {state}:
        assert time.monotonic() < deadline, f"job {job_id} is {states}, not {state}"
        time.sleep(0.1)
