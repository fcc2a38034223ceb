"""An application on a real cluster as its test sees it: started, watched by its diary, killed, asked to stop."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import psutil

from headgate.engines.spark.local.application import Application
from headgate.engines.spark.local.cluster import StandaloneCluster

PROGRAMS = Path(__file__).parent / "programs"
PATIENCE = timedelta(seconds=300)
"""For anything that a test waits for: a condition of a real cluster on a machine that may be busy."""

QUICK: Mapping[str, str] = {
    "collect.interval": "1 s",
    "decide.interval": "2 s",
    "job.autoscaler.metrics.window": "20 s",
    "job.autoscaler.stabilization.interval": "4 s",
    "job.autoscaler.scale-down.interval": "4 s",
}
"""Options that make an agent decide soon."""

_POLL_S = 0.5
_ID = "--executor-id"
_SINK_LOG = "spark.sql.streaming.fileSink.log.compactInterval"

Line = Mapping[str, Any]


class WatchedApplication:
    """A program of `programs/` in a directory of its own; it writes a diary there."""

    def __init__(self, cluster: StandaloneCluster, directory: Path, program: str, *arguments: str) -> None:
        """Start nothing yet."""
        self.directory = directory
        self._cluster = cluster
        self._program = program
        self._arguments = arguments
        self._running: Application | None = None

    def __enter__(self) -> Self:
        """Start nothing."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing running that would take executors from the next test."""
        if self._running and self._running.running:
            self._running.kill()

    def start(self, options: Mapping[str, str]) -> None:
        """Start its driver with these options of Headgate; after a kill it goes on from its checkpoints."""
        conf = {f"spark.headgate.{key}": value for key, value in {**QUICK, **options}.items()}
        self._running = self._cluster.run(
            PROGRAMS / self._program, str(self.directory), *self._arguments, conf={_SINK_LOG: "1000", **conf}
        )

    def lines(self, what: str) -> list[Line]:
        """Give the complete lines of one kind, oldest first."""
        diary = self.directory / "diary.jsonl"
        complete, _, _ = diary.read_text(encoding="utf-8").rpartition("\n") if diary.exists() else ("", "", "")
        return [line for line in map(json.loads, complete.splitlines()) if line["what"] == what]

    def executors(self) -> list[str]:
        """Give the ids of its executors as last seen."""
        seen = self.lines("executors")
        return list(seen[-1]["ids"]) if seen else []

    def batches(self, query: str) -> int:
        """Give the last batch of a query, -1 before the first."""
        return max((line["batch"] for line in self.lines("batch") if line["query"] == query), default=-1)

    def until(self, reached: Callable[[], Any], what: str, *, limit: timedelta = PATIENCE) -> None:
        """
        Wait for a condition.

        Raises:
            AssertionError: it did not come within the limit, or the driver has ended; with what was said last.
        """
        deadline = time.monotonic() + limit.total_seconds()
        while not reached():
            if time.monotonic() > deadline or not self._app.running:
                raise AssertionError(self._failure(what))
            time.sleep(_POLL_S)

    def until_more_batches(self, query: str, count: int) -> None:
        """Wait for so many further batches of a query."""
        until = self.batches(query) + count
        self.until(lambda: self.batches(query) >= until, f"batch {until} of {query}")

    def stop(self) -> None:
        """Let it end its queries, and wait for its end."""
        (self.directory / "stop").touch()
        status = self._app.wait(PATIENCE)
        assert status == 0, self._failure("a clean end")

    def kill(self) -> None:
        """Kill its driver as a crash would."""
        self._app.kill()

    @property
    def said(self) -> str:
        """Everything that the present driver printed."""
        return self._app.said()

    @property
    def _app(self) -> Application:
        assert self._running, "it was never started"
        return self._running

    def _failure(self, what: str) -> str:
        diary = self.directory / "diary.jsonl"
        known = diary.read_text(encoding="utf-8").splitlines()[-25:] if diary.exists() else ["no diary"]
        short = (line[:300] for line in known)
        return "\n".join([f"no {what}; the diary ends:", *short, "the driver's last words:", self._app.last_words()])


def executors_of(worker: int) -> Mapping[str, psutil.Process]:
    """Give the executors that a worker has started, by their ids; the worker by its process id."""
    told = ((child, _words(child)) for child in psutil.Process(worker).children())
    return {words[words.index(_ID) + 1]: child for child, words in told if _ID in words}


def _words(process: psutil.Process) -> list[str]:
    """Give what a process was started with; nothing of one that ends at this moment."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def alive(cluster: StandaloneCluster) -> list[int]:
    """Give the workers that run, oldest first."""
    return [pid for pid in cluster.workers if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]


def acted(application: WatchedApplication) -> bool:
    """Tell whether its agent has changed anything."""
    return any(line["acts"] for line in application.lines("decision"))
