"""One soak: starts everything, takes the store away when it is time, and looks at the service all the while."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime, timedelta
from http.client import HTTPException
from pathlib import Path
from typing import Any

from benchmarks.service_gauges import Scrape, free_port, memory_mib
from benchmarks.soak_plan import Setting
from benchmarks.soak_store import Door, open_door
from benchmarks.soak_truth import LEAST, MOST, TARGET, Entry, What, read
from headgate.options.service import Pipeline
from headgate.testing.process import HeadgateProcess, Line

OUTAGE_S = 20.0
REFUSES_AT, HANGS_AT = 0.4, 0.7
"""Shares of the soak after which the store goes away."""
WINDOW_TICKS = 4
WORKS = ("collect", "decide")
MERGED_WITHIN = timedelta(minutes=30)
"""The default of `scaling.event.interval`, and the interval of the events that are about no job."""


class Soak:
    """One soak; it can run once."""

    def __init__(self, setting: Setting, pipeline: Pipeline, directory: Path) -> None:
        """Start nothing yet; the directory is empty and takes what is kept meanwhile."""
        self._setting = setting
        self._pipeline = pipeline
        self._directory = directory
        self._port = free_port()
        self._began = 0.0
        self._series: dict[str, list[tuple[float, float]]] = {name: [] for name in ("memory", *WORKS)}
        self._happened = 0

    async def run(self) -> tuple[Mapping[str, Any], list[Entry]]:
        """Run it, and give the raw results and the ledger."""
        ledger = self._directory / "ledger.csv"
        async with open_door(self._directory) as door:
            with _server(self._setting, ledger) as (self._began, url):
                lines = await self._serve(url, door)
        events = [line for line in lines if "key" in line]
        results = {
            "setting": {**asdict(self._setting), "pipeline": self._pipeline.value, "store": door.kind},
            "machine": {"cores": os.cpu_count(), "load": os.getloadavg()[2]},
            "series": self._series,
            "events": {"happened": self._happened, "told": len(events), "retold": retold(events)},
        }
        entries = [*read(ledger.read_text(encoding="utf-8")), *decisions(events, self._began)]
        return results, sorted(entries, key=lambda entry: entry.at_s)

    async def _serve(self, url: str, door: Door) -> list[Line]:
        """Let the service run for as long as the soak lasts, and give what it said."""
        with HeadgateProcess(self._options(url, door), self._directory) as headgate:
            child = headgate._child
            pid = child.process.pid if child else 0
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._take_away(door))
                tasks.create_task(self._look(pid))
            # In a thread: the store's relay must go on meanwhile. A slow end is not what is measured.
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(headgate.stop)
            complete, _, _ = headgate.said.rpartition("\n")
            return [json.loads(line) for line in complete.splitlines() if line.startswith("{")]

    async def _take_away(self, door: Door) -> None:
        for share, begin in ((REFUSES_AT, door.refuse), (HANGS_AT, door.hang)):
            await asyncio.sleep(share * self._setting.duration_s - self._now)
            begin()
            await asyncio.sleep(OUTAGE_S)
            await door.restore()

    async def _look(self, pid: int) -> None:
        """Twice a tick, so that none is overlooked."""
        while self._now < self._setting.duration_s:
            self._series["memory"].append((round(self._now, 1), round(memory_mib(pid), 1)))
            with suppress(OSError, HTTPException):
                self._note(await asyncio.to_thread(Scrape.of, self._port))
            await asyncio.sleep(self._setting.tick_s / 2)

    def _note(self, scrape: Scrape) -> None:
        self._happened = scrape.events()
        for work in WORKS:
            ticks, series = scrape.ticks(work), self._series[work]
            at_s = round(ticks.last_at - self._began, 1) if ticks else 0.0
            if ticks and (not series or series[-1][0] < at_s):
                series.append((at_s, round(ticks.last_s, 3)))

    @property
    def _now(self) -> float:
        return time.time() - self._began

    def _options(self, url: str, door: Door) -> Mapping[str, object]:
        """Everything about time is short, so that a quarter of an hour holds several rescales of each job."""
        interval = f"{self._setting.tick_s} s"
        return {
            # A database that is there already may hold what an earlier soak left of jobs of the same names.
            "clusters": [{"name": f"soak-{self._began:.0f}", "url": url}],
            "mode": "act",
            "pipeline": self._pipeline.value,
            "spark.master": "local[2]",
            "state-store": door.url,
            "metrics.address": f"127.0.0.1:{self._port}",
            "collect.interval": interval,
            "decide.interval": interval,
            # When each need is to be met is told in ticks of the window.
            "headgate.reaction": "windowed",
            "job.autoscaler": {
                "metrics.window": f"{WINDOW_TICKS * self._setting.tick_s} s",
                "metrics.busy-time.aggregator": "AVG",
                "stabilization.interval": "0 s",
                "utilization.target": TARGET,
                "utilization.min": LEAST,
                "utilization.max": MOST,
                "scale-down.interval": "0 s",
                "scale-down.max-factor": 1.0,
                "catch-up.duration": "0 s",
                "restart.time": "1 s",
                "restart.time-model.enabled": False,
                "scaling.parallelism-alignment.mode": "OFF",
            },
        }


def decisions(events: Iterable[Line], began: float) -> Iterator[Entry]:
    """Give the decisions to rescale, and to take a rescale back, that were told, as entries of the ledger."""
    for event in events:
        is_rollback = event["event"] == "Rollback"
        if is_rollback or (event["event"] == "ScalingReport" and event["acts"]):
            at_s = datetime.fromisoformat(event["at"]).timestamp() - began
            name = f"rollback of {event['decision']}" if is_rollback else event["decision"]
            yield Entry(at_s, int(event["job"].rpartition("-")[2]), What.DECISION, name)


def retold(events: Iterable[Line]) -> list[str]:
    """Give the keys of events that were told twice within the interval; a second delivery of the same one is none."""
    last: dict[str, datetime] = {}
    found = set()
    for event in events:
        at, before = datetime.fromisoformat(event["at"]), last.get(event["key"])
        if before is not None and timedelta() < at - before < MERGED_WITHIN:
            found.add(event["key"])
        last[event["key"]] = at
    return sorted(found)


@contextmanager
def _server(setting: Setting, ledger: Path) -> Iterator[tuple[float, str]]:
    """Run the fake Flink; give when the soak began, and its address."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in asdict(setting).items()]
    command = [sys.executable, "-m", "benchmarks.soak_server", *options, f"--ledger={ledger}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            began, url = process.stdout.readline().split() if process.stdout else ("", "")
            yield float(began), url
        finally:
            process.terminate()
