"""Measures what the loop costs one fleet: counts before and after some ticks, read while the service rests."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.service_gauges import Scrape, cpu_s, free_port
from headgate.options.service import Pipeline
from headgate.testing.process import HeadgateProcess

WINDOW_TICKS = 3
WARM_UP_TICKS = WINDOW_TICKS + 3
"""Until windows are full and what comes once has come."""
_REST = 0.97
"""Share of an interval after which its work is done, unless that takes longer than the interval."""
_START_LIMIT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a measurement goes."""

    rounds: int
    """Ticks that count."""
    interval_s: float
    pipeline: Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of a number of jobs, over some ticks."""

    jobs: int
    changing: int
    """How many of them at any time had a load that had just changed, while all went by `headgate.reaction: fast`."""
    ticks: int
    """Of the collector."""
    cycles: int
    wall_s: float
    cpu_s: float
    collect_s: float
    """Duration of all ticks of the collector."""
    decide_s: float
    """Duration of all cycles."""
    calls: int
    connections: int
    bytes_to_server: int
    bytes_to_client: int


def measure(jobs: int, pace: Pace, changing: int = 0) -> Cost:
    """Measure one fleet; where some of it changes, with `headgate.reaction: fast`."""
    port = free_port()
    with (
        _Server.of(jobs, changing) as server,
        tempfile.TemporaryDirectory() as directory,
        HeadgateProcess(_options(server.url, port, pace, fast=changing > 0), Path(directory)) as headgate,
    ):
        child = headgate._child
        service = _Service(pid=child.process.pid if child else 0, server=server)
        headgate.until(lambda: bool(headgate.lines("ready")), limit=_START_LIMIT)
        _rest(WARM_UP_TICKS, pace.interval_s)
        # What a scrape costs is not the loop's: it comes before the first look and after the last one.
        before = Scrape.of(port)
        begin = service.look()
        _rest(pace.rounds, pace.interval_s)
        end = service.look()
        passed = {name: end[name] - begin[name] for name in end}
        return Cost(jobs=jobs, changing=changing, **_ticked(before, Scrape.of(port)), **passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Service:
    """The running service and its server."""

    pid: int
    server: _Server

    def look(self) -> Mapping[str, Any]:
        """Give everything that is counted, by the names of `Cost`."""
        counts = self.server.counts()
        seen = {name: counts[name] for name in ("calls", "connections", "bytes_to_server", "bytes_to_client")}
        return {**seen, "wall_s": time.monotonic(), "cpu_s": cpu_s(self.pid)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """The fake Flink in its own process."""

    url: str
    process: subprocess.Popen[str]

    @classmethod
    @contextmanager
    def of(cls, jobs: int, changing: int) -> Iterator[_Server]:
        numbers = ["--jobs", str(jobs), "--changing", str(changing)]
        command = [sys.executable, "-m", "benchmarks.loop_cost_server", *numbers]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield cls(url=_line(process).strip(), process=process)
            finally:
                process.terminate()

    def counts(self) -> Mapping[str, int]:
        """Ask what has passed so far."""
        self.process.send_signal(signal.SIGUSR1)
        counts: Mapping[str, int] = json.loads(_line(self.process))
        return counts


def _line(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline() if process.stdout else ""


def _rest(ticks: int, interval_s: float) -> None:
    """Wait for so many ticks, and for the end of the last one: ticks begin at whole intervals of the clock."""
    phase_s = time.time() % interval_s
    time.sleep(ticks * interval_s + _REST * interval_s - phase_s)


def _ticked(before: Scrape, after: Scrape) -> Mapping[str, Any]:
    ticks, collect_s = _between(before, after, "collect")
    cycles, decide_s = _between(before, after, "decide")
    return {"ticks": ticks, "cycles": cycles, "collect_s": collect_s, "decide_s": decide_s}


def _between(before: Scrape, after: Scrape, work: str) -> tuple[int, float]:
    """Give how many ticks there were, and their duration together."""
    first, last = before.ticks(work), after.ticks(work)
    if first is None or last is None:
        message = f"no tick of {work} was ever over"
        raise RuntimeError(message)
    return last.count - first.count, last.total_s - first.total_s


def _options(url: str, port: int, pace: Pace, *, fast: bool) -> Mapping[str, object]:
    interval = f"{pace.interval_s} s"
    return {
        "clusters": [{"name": "fake", "url": url}],
        "mode": "act",
        "pipeline": pace.pipeline.value,
        "spark.master": "local[2]",
        "metrics.address": f"127.0.0.1:{port}",
        "collect.interval": interval,
        "decide.interval": interval,
        "headgate.reaction": "fast" if fast else "windowed",
        "job.autoscaler": {
            "metrics.window": f"{WINDOW_TICKS * pace.interval_s} s",
            "metrics.busy-time.aggregator": "AVG",
            "stabilization.interval": "0 s",
        },
    }
