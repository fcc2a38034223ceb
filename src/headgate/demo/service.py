"""Runs `headgate run` as a process of its own; and what that of the demo is told, which is nothing of the work."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Self

import yaml

from headgate.demo.draw import UTILIZATION_MAX, UTILIZATION_MIN, UTILIZATION_TARGET
from headgate.demo.saying import Saying, is_ready, read_sayings
from headgate.engines.flink.local.java import Java
from headgate.engines.flink.local.processes import Child, Children
from headgate.errors import PermanentError

_TAIL_LINES = 20
_PATIENCE = timedelta(seconds=10)
"""A cycle that is under way is finished first."""
_START_LIMIT = timedelta(seconds=90)
_POLL_S = 0.2


def configuration(url: str, directory: Path, *, dry_run: bool) -> Mapping[str, object]:
    """Return the content of a `headgate.yaml` whose windows are short enough for a demo."""
    return {
        "clusters": [{"name": "demo", "url": url}],
        "mode": "advise" if dry_run else "act",
        "collect.interval": "1 s",
        "decide.interval": "3 s",
        **places(directory),
        **windows(),
    }


def places(directory: Path) -> Mapping[str, object]:
    """Return where Headgate keeps its samples and its state: in a directory of the demo."""
    return {"log.path": str(directory / "samples"), "state-store": f"sqlite:///{directory / 'headgate.db'}"}


def windows() -> Mapping[str, object]:
    """Return the options of a job that is decided on after seconds, not after minutes."""
    autoscaler = {
        "metrics.window": "12 s",
        "stabilization.interval": "4 s",
        "restart.time": "3 s",
        "utilization.target": UTILIZATION_TARGET,
        "utilization.max": UTILIZATION_MAX,
        "utilization.min": UTILIZATION_MIN,
        "metrics.busy-time.aggregator": "AVG",
        # Down at once and in one step, not after an hour and by at most 60 %.
        "scale-down.interval": "0 s",
        "scale-down.max-factor": 1,
        # To the parallelism that arithmetic gives, not to the next divisor of the key groups.
        "scaling.parallelism-alignment.mode": "OFF",
    }
    return {f"job.autoscaler.{key}": value for key, value in autoscaler.items()}


class Service:
    """The Headgate process, from when it is entered to when it is left."""

    def __init__(self, told: Mapping[str, object], directory: Path, *, java: Java) -> None:
        """
        Start nothing yet.

        Args:
            told: the content of its `headgate.yaml`.
            directory: exists; takes the configuration, the log, and whatever Headgate and Spark write.
            java: what Spark and the TaskManagers that Headgate starts are to run on.
        """
        self._directory = directory
        self._java = java
        self._config = directory / "headgate.yaml"
        self._config.write_text(yaml.safe_dump(dict(told), sort_keys=False))
        self._output = directory / "headgate.log"
        self._read_to = 0
        self._children = Children()
        self._child: Child | None = None

    def __enter__(self) -> Self:
        """Start the process, without waiting for anything."""
        command = [sys.executable, "-m", "headgate", "run", "--config", str(self._config), "--json"]
        environment = self._environment()
        try:
            self._child = self._children.start("headgate", command, environment=environment, output=self._output)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        """End the process, whatever happened."""
        self.close()

    def close(self) -> None:
        """End the process; may be called again."""
        self._children.close(patience=_PATIENCE)

    def await_ready(self) -> None:
        """
        Wait until Headgate has started, Spark included, or for a limit: the demo is then late, and its judge says so.

        Raises:
            PermanentError: the process has ended; the text holds its last lines.
        """
        deadline = time.monotonic() + _START_LIMIT.total_seconds()
        while time.monotonic() < deadline and not is_ready(self._output.read_text(errors="replace").splitlines()):
            self._check()
            time.sleep(_POLL_S)

    def sayings(self) -> list[Saying]:
        """
        Return what Headgate has said since the last call.

        Raises:
            PermanentError: the process has ended; the text holds its last lines.
        """
        self._check()
        with self._output.open("rb") as log:
            log.seek(self._read_to)
            new, _, _ = log.read().rpartition(b"\n")
        self._read_to += len(new)
        return read_sayings(new.decode(errors="replace").splitlines())

    def _check(self) -> None:
        if self._child is not None and not self._child.running:
            raise PermanentError(self._last_words(self._child))

    def _environment(self) -> Mapping[str, str]:
        """Return this process's environment, temporary files moved to where they are deleted with the rest."""
        temporary = self._directory / "tmp"
        temporary.mkdir(exist_ok=True)
        return os.environ | {
            "JAVA_HOME": str(self._java.home),
            "TMPDIR": str(temporary),
            "SPARK_LOCAL_DIRS": str(temporary),
        }

    def _last_words(self, child: Child) -> str:
        said = self._output.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        ended = f"headgate ended during the demo, with status {child.process.returncode}; its last lines:"
        return "\n".join([ended, *said])
