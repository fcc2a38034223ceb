"""A real Flink cluster on loopback, the load job's jar, and jobs that are gone when their test ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.demo.loadjob import ENTRY_CLASS, LoadJobSpec, build_jar
from headgate.demo.submit import cancel_job, submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.runtime import FlinkRuntime

RUNNING_LIMIT = timedelta(seconds=30)

RunJob = Callable[[LoadJobSpec, int], str]
"""Submits a job with this parallelism everywhere, waits until all of it runs, returns its id."""


@pytest.fixture(scope="session")
def runtime() -> FlinkRuntime:
    """Return Java and Flink; `runtime.home` is Flink's directory. The first time, they are fetched."""
    return find_runtime()


@pytest.fixture(scope="session")
def jar(runtime: FlinkRuntime) -> Path:
    """Return the load job's jar."""
    return build_jar(runtime.java, runtime.home)


@pytest.fixture(scope="module")
def cluster(runtime: FlinkRuntime) -> Iterator[LocalCluster]:
    """Run two TaskManagers with two slots each, on the lab settings, for all tests of a module."""
    with LocalCluster(runtime=runtime) as running:
        yield running


@pytest.fixture
def run_job(cluster: LocalCluster, jar: Path) -> Iterator[RunJob]:
    """Submit jobs to the module's cluster that are cancelled after the test."""
    with ExitStack() as cancelling:

        def run(spec: LoadJobSpec, parallelism: int) -> str:
            job_id = submit_job(
                cluster.url,
                jar,
                entry_class=ENTRY_CLASS,
                arguments=spec.arguments(),
                parallelism=parallelism,
            )
            cancelling.callback(_cancel, cluster.url, job_id)
            _await_state(cluster.url, job_id, "RUNNING")
            return job_id

        yield run


def _cancel(url: str, job_id: str) -> None:
    """Wait for the end too, so that the next job finds the slots free."""
    cancel_job(url, job_id)
    _await_state(url, job_id, "CANCELED")


def _await_state(url: str, job_id: str, state: str) -> None:
    deadline = time.monotonic() + RUNNING_LIMIT.total_seconds()
    while True:
        states = {vertex["status"] for vertex in call_json(f"{url}/jobs/{job_id}")["vertices"]}
        if states == {state}:
            return
        assert time.monotonic() < deadline, f"job {job_id} is {states}, not {state}"
        time.sleep(0.1)
