"""Runs `headgate run` as a process of its own, as a user would, and reads what it says, keeps and decides."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import yaml

from headgate.engines.flink.local.processes import Child, Children
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.samplelog.reader import LogReader
from headgate.stores.opening import open_store

Line = Mapping[str, Any]

_STOP_PATIENCE = timedelta(seconds=20)
"""Spark takes its time."""
_POLL_S = 0.25
_NOTHING: Mapping[str, str] = MappingProxyType({})


class RunningService(ABC):
    """
    A service that runs somewhere: its file, what it says, keeps and decides.

    Attributes:
        config: its file; samples and state are kept beside it unless the options say otherwise.
        output: the file that takes its JSON lines.
    """

    def __init__(self, options: Mapping[str, object], directory: Path) -> None:
        """
        Write the configuration; nothing is started yet.

        Args:
            options: content of the file.
            directory: exists and is empty.
        """
        self.config = directory / "headgate.yaml"
        self.output = directory / "headgate.log"
        self._store = f"sqlite:///{directory / 'headgate.db'}"
        places = {"log.path": str(directory / "samples"), "state-store": self._store}
        self.config.write_text(yaml.safe_dump({**places, **options}, sort_keys=False), encoding="utf-8")
        self._log = LogReader(directory / "samples")

    @abstractmethod
    def __enter__(self) -> Self:
        """Start it, without waiting for anything."""

    @abstractmethod
    def __exit__(self, *failure: object) -> None:
        """End it, whatever happened."""

    @abstractmethod
    def stop(self) -> int:
        """Ask it to end, wait for that, and return its exit status."""

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether it was started and has not ended."""

    @property
    def said(self) -> str:
        """Everything that it printed so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def lines(self, event: str, subject: str | None = None) -> list[Line]:
        """
        Return the log lines of one kind.

        Args:
            event: an event's reason, or `decision`.
            subject: the job's key or the cluster's name; all of them by default.
        """
        complete, _, _ = self.said.rpartition("\n")
        read = [json.loads(line) for line in complete.splitlines() if line.startswith("{")]
        return [
            line for line in read if line["event"] == event and subject in {None, line.get("job"), line.get("cluster")}
        ]

    def decisions(self, job: str, *, since: datetime) -> tuple[Decision, ...]:
        """Return what it decided for a job in every cycle since then, oldest first, by its log of samples."""
        return self._log.decisions(JobKey.parse(job), since, datetime.now(UTC))

    def state(self, job: str) -> JobState:
        """Return what it remembers of a job."""
        return open_store(self._store).load(JobKey.parse(job)).state

    def await_cycles(self, job: str, count: int, *, limit: timedelta) -> tuple[Decision, ...]:
        """Wait until a job was decided for so many more times, and return what was decided; raises as `until` does."""
        since = datetime.now(UTC)
        self.until(lambda: len(self.decisions(job, since=since)) >= count, limit=limit)
        return self.decisions(job, since=since)

    def until(self, reached: Callable[[], bool], *, limit: timedelta) -> None:
        """
        Wait for a condition.

        Raises:
            AssertionError: it did not come within the limit, or the process has ended; with the log's last lines.
        """
        deadline = time.monotonic() + limit.total_seconds()
        while not reached():
            running = self.running
            if time.monotonic() > deadline or not running:
                why = f"not within {limit}" if running else "headgate has ended"
                raise AssertionError("\n".join([why, *self.said.splitlines()[-40:]]))
            time.sleep(_POLL_S)


class HeadgateProcess(RunningService):
    """The service as a process of its own, from when it is entered to when it is left."""

    def __init__(
        self, options: Mapping[str, object], directory: Path, *, environment: Mapping[str, str] = _NOTHING
    ) -> None:
        """Write the configuration; `environment` is added to this process's own."""
        super().__init__(options, directory)
        self._environment = {**os.environ, "SPARK_LOCAL_DIRS": str(directory), **environment}
        self._children = Children()
        self._child: Child | None = None

    def __enter__(self) -> Self:
        """Start the process, without waiting for anything."""
        command = [sys.executable, "-m", "headgate", "run", "--config", str(self.config), "--json"]
        self._child = self._children.start("headgate", command, environment=self._environment, output=self.output)
        return self

    def __exit__(self, *failure: object) -> None:
        """End the process, whatever happened."""
        self._children.close(patience=_STOP_PATIENCE)

    def stop(self) -> int:
        """Ask it to end, wait for that, and return its exit status."""
        if self._child is None:
            message = "the process was never started"
            raise RuntimeError(message)
        self._child.process.send_signal(signal.SIGTERM)
        return self._child.process.wait(_STOP_PATIENCE.total_seconds())

    def kill(self) -> None:
        """End it as a crash would, at once; what is started again in its directory goes on from what it has kept."""
        if self._child is not None:
            self._children.kill(self._child)

    @property
    def running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._child is not None and self._child.running
