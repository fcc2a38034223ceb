"""
Kill the process before or after any call that the control loop makes: nothing is lost, and nothing is done twice.

What is known of it afterwards is what others saw: the requests that reached the engine, and the events on file.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from headgate.model.events import EventReason
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain

PROGRAM = Path(__file__).with_name("kill_points_program.py")
TICK_S = 10.0
KILLED = -signal.SIGKILL

OF_A_CHANGE = {EventReason.SCALING_REPORT, EventReason.SCALING, EventReason.RESCALE_REACHED}
"""What is told of a rescale that goes well."""
NAMING_THE_CHANGE = {EventReason.SCALING_REPORT, EventReason.SCALING}


class Processes:
    """The warm program, of which each run is a process of its own."""

    def __init__(self, warm: subprocess.Popen[str]) -> None:
        """Take over the pipes."""
        self._warm = warm

    async def run(self, server: FakeFlink, directory: Path, *, kill: str | None = None) -> int:
        """Run the control loop for its few ticks, or until it is killed; give the exit status."""
        order = {"url": server.url, "directory": str(directory), "kill": kill}
        return int(await asyncio.to_thread(self._ask, json.dumps(order)))

    def _ask(self, line: str) -> str:
        assert self._warm.stdin
        assert self._warm.stdout
        self._warm.stdin.write(f"{line}\n")
        self._warm.stdin.flush()
        return self._warm.stdout.readline()


@contextmanager
def warm_program() -> Iterator[Processes]:
    """Start the program, and end it."""
    command = [sys.executable, str(PROGRAM)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as warm:
        yield Processes(warm)
        assert warm.stdin
        warm.stdin.close()


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """Keep one program warm for all points."""
    with warm_program() as warm:
        yield warm


def flink(*, obeys_after_s: float = 1.5 * TICK_S) -> FakeFlink:
    """Make a Flink of one job that takes a tick and a half to obey, and whose clock goes on with each tick."""
    job = chain(job_id=program().JOB_ID, name="orders", vertices=3)
    job.rescale_delay_s = obeys_after_s
    server = FakeFlink([job])
    server.tick_s = TICK_S
    return server


@cache
def program() -> ModuleType:
    """Import the program, for its constants."""
    spec = importlib.util.spec_from_file_location("kill_points_program", PROGRAM)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def undisturbed(processes: Processes, directory: Path) -> list[str]:
    """Run to the end without a kill, and give the points at which it could have been killed."""
    async with flink() as server:
        assert await processes.run(server, directory) == 0
        check(server, directory)
    return (directory / "points").read_text().splitlines()


@cache
def points() -> list[str]:
    """Find every point: the calls are counted in a run of the program."""
    with warm_program() as processes, tempfile.TemporaryDirectory() as directory:
        return asyncio.run(undisturbed(processes, Path(directory)))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each point, called by its name."""
    if "point" in metafunc.fixturenames:
        metafunc.parametrize("point", points())


async def test_a_kill_loses_nothing_and_repeats_nothing(point: str, processes: Processes, tmp_path: Path) -> None:
    """The next process makes the change that is still to be made, once, and tells everything that there is to tell."""
    async with flink() as server:
        assert await processes.run(server, tmp_path, kill=point) == KILLED
        assert await processes.run(server, tmp_path) == 0
        check(server, tmp_path)


async def test_a_change_that_is_made_while_nobody_looks_is_told_whole(processes: Processes, tmp_path: Path) -> None:
    """The next process finds the job at its new parallelism before it could ask for it, and tells the request too."""
    async with flink(obeys_after_s=0) as server:
        assert await processes.run(server, tmp_path, kill="after put #1") == KILLED
        assert await processes.run(server, tmp_path) == 0
        check(server, tmp_path)


def test_the_points_are_on_both_sides_of_every_call_that_matters() -> None:
    """Otherwise the test above would prove less than it says."""
    calls = {point.split()[1] for point in points()}
    assert calls >= {"fetch", "update_metrics", "append", "load", "evaluate", "query_topology", "save"}
    assert calls >= {"realize_parallelism_overrides", "put", "handle", "append_decisions"}
    assert {"before save #1", "after save #1", "before put #1", "after put #1"} <= set(points())


def check(server: FakeFlink, directory: Path) -> None:
    """Hold what others saw against what should have happened to the job: one change, made and told."""
    (job,) = server.jobs.values()
    # Flink would take the same bounds again without harm. Headgate looks first, so they are never even sent again.
    (asked,) = requests_of(server, job)
    bounds = {vertex.id: asked[vertex.id]["parallelism"]["upperBound"] for vertex in job.vertices}
    assert bounds == {vertex.id: vertex.parallelism for vertex in job.vertices}
    wanted = bounds.pop(job[program().VERTEX].id)
    assert wanted in {program().WANTED_FIRST, program().WANTED_LATER}
    assert set(bounds.values()) == {1}
    check_events(told(directory), wanted)


def check_events(events: list[Mapping[str, Any]], wanted: int) -> None:
    """Everything of one change is told, nothing of any other; what is told again is told under the same key."""
    keys = defaultdict(set)
    for event in events:
        keys[event["reason"]].add(event["key"])
    assert set(keys) == {*OF_A_CHANGE, EventReason.JOB_APPEARED}
    assert all(len(keys[reason]) == 1 for reason in OF_A_CHANGE)
    assert len({event["fields"]["decision"] for event in events if event["reason"] in OF_A_CHANGE}) == 1
    assert all(f"1 -> {wanted}" in event["message"] for event in events if event["reason"] in NAMING_THE_CHANGE)


def requests_of(server: FakeFlink, job: FakeJob) -> list[Mapping[str, Any]]:
    """Give what the engine was asked to make of the job, in order."""
    path = f"/jobs/{job.job_id}/resource-requirements"
    return [request.body for request in server.requests if request.method == "PUT" and request.path == path]


def told(directory: Path) -> list[Mapping[str, Any]]:
    """Give the events on file, in order."""
    return [json.loads(line) for line in (directory / "events").read_text().splitlines()]
