"""
The program of the test of kill points: a few ticks of the real control loop over one job of a Flink at an address.

Started without arguments it stays warm and runs one process for each line of standard input, an order in JSON:
`{"url": .., "directory": .., "kill": "before save #2" or null}`. For each it answers with the exit status, negative
for a signal. Everything that the control loop calls is mortal: each port, and the request that changes the engine.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from headgate.config import JobSettings
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.engines.flink.details import read_details
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.realizer import ResourceRequirementsRealizer
from headgate.events.best_effort import BestEffortEventHandler
from headgate.events.merging import MergingEventHandler
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, Mode
from headgate.ports import Candidate
from headgate.stores.opening import open_store
from headgate.testing.builders import evaluated
from headgate.testing.fakes import FakeEvaluator, RecordingLog
from headgate.testing.killing import Calls, KillPoint, mortal

CLUSTER, JOB_ID = "lab", "a" * 32
VERTEX = "stage-1"
WANTED_FIRST, WANTED_LATER = 4, 8
"""Who forgets what it was about to do decides anew, and otherwise."""
TICKS = 4
"""Decided, under way, reached, and one in which nothing is left to be done."""
OPTIONS = AutoscalerOptions(stabilization_interval=timedelta())


class FileEvents:
    """An event handler that is no part of Headgate's store: one line an event, on disk when it returns."""

    def __init__(self, path: Path) -> None:
        """Write nothing yet."""
        self._path = path

    def handle(self, event: Event, /) -> None:
        """Write the line."""
        line = {"reason": event.reason, "key": event.key, "message": event.message, "fields": dict(event.fields)}
        with self._path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")
            lines.flush()
            os.fsync(lines.fileno())


async def run(url: str, directory: Path, calls: Calls) -> None:
    """Tick; the time is the job's."""
    async with FlinkClient(ClusterOptions(name=CLUSTER, url=url)) as client:
        observer, cycle = control_loop(client, directory, calls)
        for _ in range(TICKS):
            now = await time_of(client)
            await observer.observe(now)
            await cycle.run(observer.latest, now)


def control_loop(client: FlinkClient, directory: Path, calls: Calls) -> tuple[Observer, Cycle]:
    """Put the control loop together as the service does, every port mortal."""
    log = mortal(RecordingLog(), calls)
    clients = {CLUSTER: mortal(client, calls, only=("put",))}
    events = MergingEventHandler(mortal(FileEvents(directory / "events"), calls))
    told = BestEffortEventHandler(events)
    store = mortal(open_store(f"sqlite:///{directory / 'state.db'}"), calls)
    outbox = Outbox(store=store, events=events)
    collector = mortal(FlinkMetricCollector(clients), calls)
    realizer = mortal(ResourceRequirementsRealizer(clients), calls)
    observer = Observer(
        fetcher=mortal(FlinkJobListFetcher(clients, settings_of), calls),
        collector=collector,
        sink=log,
        events=told,
        time_limit=timedelta(seconds=10),
    )
    cycle = Cycle(
        mode=Mode.ACT,
        evaluator=mortal(FakeEvaluator(needs), calls),
        actuator=Actuator(collector=collector, realizer=realizer, outbox=outbox, events=told),
        outbox=outbox,
        events=told,
        decisions=log,
    )
    return observer, cycle


def settings_of(_: JobKey, __: Mapping[str, str]) -> JobSettings:
    """Let the same options hold for every job."""
    return JobSettings(options=OPTIONS)


def needs(candidate: Candidate) -> EvaluatedMetrics:
    """Say that one vertex needs more while it has one subtask, and at a later tick more than at the first."""
    sample = candidate.sample
    (vertex,) = (each for each in sample.topology.vertices if each.name == VERTEX)
    wanted = WANTED_FIRST if sample.at <= sample.running_since else WANTED_LATER
    return evaluated(sample.topology, {VERTEX: wanted} if vertex.parallelism == 1 else {})


async def time_of(client: FlinkClient) -> datetime:
    """Ask for the job's time, so that a process that comes after a kill goes on from there."""
    details = await client.get(f"/jobs/{JOB_ID}", read_details)
    return instant(details.now_ms)


def obey(order: Mapping[str, Any]) -> None:
    """Run one order to its end, if it has one, and write down at which points it could have been killed."""
    directory = Path(order["directory"])
    calls = Calls(KillPoint.parse(order["kill"]) if order["kill"] else None)
    asyncio.run(run(order["url"], directory, calls))
    (directory / "points").write_text("\n".join(map(str, calls.points)), encoding="utf-8")


def fork(order: Mapping[str, Any]) -> int:
    """Obey in a process of its own, and give its exit status."""
    child = os.fork()
    if child == 0:
        try:
            obey(order)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    for line in sys.stdin:
        print(fork(json.loads(line)), flush=True)  # noqa: T201 -- the answer
