"""Child processes that never outlive this one, each in a process group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from headgate.engines.flink.local import watchdog


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A started process and the file that takes what it prints."""

    name: str
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.process.poll() is None


@dataclass(slots=True)
class Children:
    """
    The processes started through it, until `close`.

    They do not get the terminal's Ctrl-C: that ends this process, which then closes them. If it is killed
    instead, a watchdog process kills them.
    """

    _living: list[Child] = field(default_factory=list)
    _watchdog: subprocess.Popen[str] | None = None

    def start(self, name: str, command: Sequence[str], *, environment: Mapping[str, str], output: Path) -> Child:
        """Start a process whose standard output and error go to the end of a file."""
        guard = self._guard()
        with output.open("ab") as sink:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        child = Child(name=name, process=process, output=output)
        self._living.append(child)
        _tell(guard, f"+{process.pid}\n")
        return child

    def kill(self, child: Child) -> None:
        """End a process as a crash would: at once, without a chance to clean up."""
        _signal(child, signal.SIGKILL)
        self._forget(child)

    def close(self, *, patience: timedelta = timedelta(seconds=5)) -> None:
        """Ask all to end, kill those that have not after `patience`; may be called again."""
        for child in self._living:
            _signal(child, signal.SIGTERM)
        for child in self._living:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(patience.total_seconds())
        for child in list(self._living):
            self.kill(child)
        self._dismiss_guard()

    def _forget(self, child: Child) -> None:
        child.process.wait()
        self._living.remove(child)
        if self._watchdog is not None:
            _tell(self._watchdog, f"-{child.process.pid}\n")

    def _guard(self) -> subprocess.Popen[str]:
        if self._watchdog is None:
            command = [sys.executable, "-I", "-S", watchdog.__file__]
            self._watchdog = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, start_new_session=True)
        return self._watchdog

    def _dismiss_guard(self) -> None:
        guard, self._watchdog = self._watchdog, None
        if guard is not None:
            guard.communicate()


def _tell(guard: subprocess.Popen[str], line: str) -> None:
    # Somebody may have ended the watchdog; the children must be closed all the same.
    with suppress(BrokenPipeError):
        if guard.stdin is not None:
            guard.stdin.write(line)
            guard.stdin.flush()


def _signal(child: Child, which: signal.Signals) -> None:
    """Signal the whole group; a child that has been waited for has none, and its number may be another's."""
    if child.process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(child.process.pid, which)
