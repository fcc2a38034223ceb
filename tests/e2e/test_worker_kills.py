"""Headgate is killed while it starts workers: what it had begun is found, and nothing is there twice."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from headgate.providers.folder import WorkerFolder, end_workers
from headgate.providers.local import FOLDER, LocalProcessesProvider
from headgate.testing.fake_java import make_flink, make_java

WANTED = 4
PROGRAM = f"""
import asyncio, json, sys
from headgate.providers.local import LocalProcessesProvider
provider = LocalProcessesProvider(json.loads(sys.argv[1]))
print("now", flush=True)
asyncio.run(provider.request({WANTED}))
"""


@pytest.fixture
def parameters(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Give those of a provider whose TaskManagers only sleep; they end with the test."""
    directory = tmp_path / "cluster"
    (directory / "conf").mkdir(parents=True)
    java, flink = make_java(tmp_path / "java"), make_flink(tmp_path / "flink")
    yield {"directory": str(directory), "java": str(java), "home": str(flink)}
    end_workers(directory / FOLDER)


def running(directory: str) -> set[int]:
    """Give every process of this machine that was started as a worker of the directory."""
    known = (f"{directory}/conf", "sleep")
    found = psutil.process_iter(["environ", "name", "pid"])
    return {
        one.info["pid"]
        for one in found
        if ((one.info["environ"] or {}).get("FLINK_CONF_DIR"), one.info["name"]) == known
    }


def known_to(directory: str) -> set[int]:
    """Give the processes that Headgate knows of."""
    folder = WorkerFolder(Path(directory) / FOLDER)
    with folder.locked():
        return {worker.pid or 0 for worker in folder.living()}


@pytest.mark.parametrize("after_ms", [0, 25, 50, 100])
async def test_killed_while_it_starts_workers(parameters: Mapping[str, str], after_ms: int) -> None:
    """The next Headgate has as many as are wanted, each of them known, whatever the first one came to."""
    directory = parameters["directory"]
    first = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, json.dumps(dict(parameters)), stdout=PIPE
    )
    assert first.stdout is not None
    await first.stdout.readline()
    await asyncio.sleep(after_ms / 1000)
    if first.returncode is None:
        first.kill()
    await first.wait()

    await LocalProcessesProvider(parameters).request(WANTED)
    async with asyncio.timeout(30):
        while len(running(directory)) != WANTED or running(directory) != known_to(directory):  # noqa: ASYNC110 - of other processes
            await asyncio.sleep(0.05)
