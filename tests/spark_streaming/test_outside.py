"""An application is scaled from outside by its workers: nothing of it is changed, it only writes its event log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml
from tests.spark_streaming.application import PROGRAMS

from headgate.config import load
from headgate.engines.spark.local.application import Application
from headgate.engines.spark.local.cluster import StandaloneCluster
from headgate.model.decision import Decision
from headgate.providers.folder import end_workers
from headgate.providers.processes import FOLDER
from headgate.testing.fakes import RecordingEvents
from headgate.wiring import service

PATIENCE_S = 240.0
BUSY_THEN_CALM = "0s:40, 15s:300, 40s:20"
"""Rows a second, of which a core does not quite two hundred."""


@pytest.fixture
def empty_cluster(tmp_path: Path) -> Iterator[StandaloneCluster]:
    """Give a master without workers; those that the service starts end before it."""
    (tmp_path / "workers").mkdir()
    with StandaloneCluster(workers=0, directory=tmp_path / "cluster") as running:
        yield running
        end_workers(tmp_path / "workers" / FOLDER)


async def test_workers_follow_the_load_of_an_application_that_knows_of_nothing(
    empty_cluster: StandaloneCluster, tmp_path: Path
) -> None:
    """The first one is started for it, more as it falls behind, and they are decommissioned when it is calm."""
    application = run(empty_cluster, tmp_path)
    async with serving(config_of(empty_cluster, tmp_path)) as said:
        try:
            await until_executors(empty_cluster, lambda count: count > 1)
            await until_executors(empty_cluster, lambda count: count == 1)
        except TimeoutError:
            pytest.fail("\n".join([*said, application.last_words()]))
    assert application.running


def run(cluster: StandaloneCluster, directory: Path) -> Application:
    """Submit the application."""
    (directory / "log").mkdir()
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{directory / 'log'}",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    return cluster.run(PROGRAMS / "unmodified.py", str(directory), BUSY_THEN_CALM, conf=conf)


def config_of(cluster: StandaloneCluster, directory: Path) -> Path:
    """Write the service's configuration."""
    options = {
        "clusters": [],
        "spark-clusters": [
            {
                "name": "streams",
                "master": cluster.web_url,
                "event-log-dir": str(directory / "log"),
                "workers": {"provider": "machine", "min": 1, "max": 3},
            }
        ],
        "headgate.plugins.machine": {
            "class": "spark-standalone",
            "directory": str(directory / "workers"),
            "master": cluster.master_url,
            "memory": "700m",
            "patience": "5 s",
        },
        "mode": "act",
        "pipeline": "in-process",
        "state-store": "memory",
        "log.path": str(directory / "samples"),
        "collect.interval": "2 s",
        "decide.interval": "4 s",
        "job.autoscaler.stabilization.interval": "4 s",
        "job.autoscaler.scale-down.interval": "8 s",
    }
    path = directory / "headgate.yaml"
    path.write_text(yaml.safe_dump(options))
    return path


@asynccontextmanager
async def serving(config: Path) -> AsyncIterator[list[str]]:
    """Let the service run, and give what it decides and tells."""
    said: list[str] = []

    def note(decisions: tuple[Decision, ...]) -> None:
        said.extend(f"{one.at:%T} {one.outcome} {one.reason}: {one.message}" for one in decisions)

    events, stop = RecordingEvents(), asyncio.Event()
    async with service(load(config, {}, {}).options, events=events, on_decisions=note) as runner:
        running = asyncio.create_task(runner.run(stop))
        yield said
        said.extend(f"{event.at:%T} {event.message}" for event in events.told)
        stop.set()
        await running


async def until_executors(cluster: StandaloneCluster, enough: Callable[[int], bool]) -> None:
    """Wait until the only application has as many as somebody wants to see."""
    async with asyncio.timeout(PATIENCE_S):
        while not enough(await asyncio.to_thread(cores_of, cluster)):  # noqa: ASYNC110 - of other processes
            await asyncio.sleep(0.5)


def cores_of(cluster: StandaloneCluster) -> int:
    """Count the cores that the application has; 0 before it is there."""
    return sum(int(one["cores"]) for one in cluster.status()["activeapps"])
