"""A PySpark application whose driver is a process of its own, beside the one that started it."""

from __future__ import annotations

import signal
import subprocess
from datetime import timedelta
from pathlib import Path

from headgate.engines.flink.local.processes import Child, Children
from headgate.errors import PermanentError

_TAIL_LINES = 30


class Application:
    """A driver that runs a Python program; what it prints, and Spark's own words, go to the file `output`."""

    def __init__(self, child: Child, children: Children) -> None:
        """
        Stand for a driver that has been started.

        Args:
            child: its process, the Python one; its JVM is in the same process group.
            children: those that it belongs to, which end it with them.
        """
        self._child = child
        self._children = children
        self._killed = False

    @property
    def pid(self) -> int:
        """Of the driver's Python process."""
        return self._child.process.pid

    @property
    def output(self) -> Path:
        """The file that takes everything it prints."""
        return self._child.output

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._child.running

    def said(self) -> str:
        """Return everything that it printed so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def last_words(self) -> str:
        """Return the last lines that it printed, for the text of an error."""
        return "\n".join(self.said().splitlines()[-_TAIL_LINES:])

    def wait(self, limit: timedelta) -> int:
        """
        Wait until it ends, and return its exit status.

        Raises:
            PermanentError: it still runs after `limit`; the text ends with its last lines.
        """
        try:
            return self._child.process.wait(limit.total_seconds())
        except subprocess.TimeoutExpired as error:
            message = f"{self._child.name} still runs after {limit}; its last lines:\n{self.last_words()}"
            raise PermanentError(message) from error

    def stop(self) -> None:
        """Ask it to end, as a scheduler would (SIGTERM); it may take its time."""
        if self.running:
            self._child.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would, Python and JVM at once; its executors notice by themselves. May be called again."""
        if not self._killed:
            self._killed = True
            self._children.kill(self._child)
