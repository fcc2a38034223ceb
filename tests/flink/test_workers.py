"""Workers of a real cluster come, die, are replaced, change their memory and go, by the provider of local processes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.providers.folder import Worker, WorkerFolder, end_workers
from headgate.providers.local import FOLDER, LocalProcessesProvider

pytestmark = [pytest.mark.flink, pytest.mark.long]

_PATIENCE_S = 120.0


@pytest.fixture
def bare_cluster(runtime: FlinkRuntime) -> Iterator[LocalCluster]:
    """Give a JobManager without TaskManagers."""
    with LocalCluster(runtime=runtime, task_managers=0) as cluster:
        try:
            yield cluster
        finally:
            end_workers(cluster.directory / FOLDER)


def registered(cluster: LocalCluster) -> Mapping[str, Mapping[str, Any]]:
    """Give the TaskManagers that the JobManager knows, by name."""
    return {one["id"]: one for one in call_json(f"{cluster.url}/taskmanagers")["taskmanagers"]}


def first_worker(cluster: LocalCluster) -> Worker:
    """Give the living worker of the lowest number."""
    folder = WorkerFolder(cluster.directory / FOLDER)
    with folder.locked():
        return folder.living()[0]


def place_of(cluster: LocalCluster, worker: Worker) -> str | None:
    """Give where the JobManager reaches a worker, if it knows it."""
    known = registered(cluster).get(worker.name)
    return None if known is None else str(known["path"])


async def until(reached: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(_PATIENCE_S):
        while not await asyncio.to_thread(reached):  # noqa: ASYNC110 - of other processes
            await asyncio.sleep(0.2)


async def test_workers_follow_what_is_asked_for(bare_cluster: LocalCluster) -> None:
    """The JobManager counts them, with the memory that they were told to have."""
    provider = LocalProcessesProvider({"directory": str(bare_cluster.directory)})
    await provider.request(2)
    first = set((await provider.workers()).names)
    await until(lambda: registered(bare_cluster).keys() == first)

    lost = first_worker(bare_cluster)
    place = place_of(bare_cluster, lost)
    os.kill(lost.pid or 0, signal.SIGKILL)
    await until(lambda: first_worker(bare_cluster) != lost)
    assert await provider.request(2) is True
    assert set((await provider.workers()).names) == first
    await until(lambda: place_of(bare_cluster, lost) not in {None, place})

    less = {"taskmanager.memory.network.min": "32m", "taskmanager.memory.network.max": "32m"}
    assert await provider.reconfigure(less) is True
    second = set((await provider.workers()).names)
    assert not first & second
    await until(lambda: registered(bare_cluster).keys() == second)
    sizes = {one["memoryConfiguration"]["networkMemory"] for one in registered(bare_cluster).values()}
    assert sizes == {32 * 1024**2}

    await provider.request(0)
    await until(lambda: not registered(bare_cluster))
