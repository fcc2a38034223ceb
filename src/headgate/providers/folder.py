"""
What one folder knows of the worker processes that were started from it; not how a worker is started.

A worker holds the lock of its own pid file as long as it lives, whoever started it and whatever became of that one. So
it is found again after any crash, there is never a second one under its name, and a process that was merely given the
number of a dead worker is nobody's worker.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from headgate.errors import ConflictError, UnreachableError
from headgate.samplelog.directory import replace_text

PREFIX = "headgate-worker-"

_POLL_S = 0.02
# The shell ends at once, so the worker is no child of this process: nobody needs to wait for it when it ends.
# One whose number cannot be kept, as on a full disk, could never be ended.
_DETACHED = '"$@" & echo "$!" >"$0" || { kill "$!"; exit 1; }'


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A living process."""

    number: int
    pid: int | None
    """None for the moment between its start and the word of it."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Those that it was started with."""
    ending_since: float | None = None
    """When it was last asked to end, or about to be, in seconds since 1970; None: it was not."""
    asked: int = 0
    """How often it was asked to end, by all that is known: a signal that was not noted may have been sent."""

    @property
    def name(self) -> str:
        """Its name, in the folder, in logs and in the engine."""
        return f"{PREFIX}{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was asked for last."""

    wanted: int | None = None
    """None: nothing yet."""
    settings: Mapping[str, str] = field(default_factory=dict)


class WorkerFolder:
    """The folder; it must be on a disk of this machine. Whatever changes something needs `locked`."""

    def __init__(self, path: Path, *, lock_limit: timedelta = timedelta(seconds=10)) -> None:
        """
        Make nothing yet.

        Args:
            path: of the folder.
            lock_limit: how long others may keep it for themselves.
        """
        self.path = path
        self._lock_limit_s = lock_limit.total_seconds()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """
        Keep every other process and thread out.

        Raises:
            ConflictError: another one has been at it all the time.
            OSError: the folder is neither there nor can be made.
        """
        self.path.mkdir(exist_ok=True)
        with (self.path / "lock").open("a") as file:
            deadline = time.monotonic() + self._lock_limit_s
            while not _lock(file):
                if time.monotonic() > deadline:
                    message = f"somebody else is starting or ending the workers of {self.path}"
                    raise ConflictError(message)
                time.sleep(_POLL_S)
            yield

    def plan(self) -> Plan:
        """Give what was kept last."""
        known = _read(self.path / "plan.json")
        return Plan(wanted=known.get("wanted"), settings=known.get("settings", {}))

    def keep(self, plan: Plan) -> None:
        """Keep a plan for later, also for after this process."""
        known = {"wanted": plan.wanted, "settings": dict(plan.settings)}
        replace_text(self.path / "plan.json", json.dumps(known))

    def living(self) -> tuple[Worker, ...]:
        """Give the workers by number; what is left of dead ones is cleared away."""
        numbers = sorted(int(path.stem.removeprefix(PREFIX)) for path in self.path.glob(f"{PREFIX}*.pid"))
        found = (self._worker(number) for number in numbers)
        return tuple(worker for worker in found if worker is not None)

    def start(self, worker: Worker, command: Sequence[str], *, environment: Mapping[str, str], output: Path) -> None:
        """
        Start a process that outlives this one; what it prints goes to the end of a file.

        Raises:
            OSError: a worker of that number lives, or it cannot be written down.
            CalledProcessError: the same.
        """
        pid_file = self._pid_file(worker.number)
        with pid_file.open("a") as locked, output.open("ab") as sink:
            fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._remember(worker)
            subprocess.run(
                ["/bin/sh", "-c", _DETACHED, str(pid_file), *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                pass_fds=(locked.fileno(),),
                start_new_session=True,
                check=True,
            )

    def end(self, worker: Worker, how: signal.Signals = signal.SIGTERM) -> None:
        """Ask a worker to end, once more if it was asked before, and remember it."""
        # Noted before, so that it counts no more from now on, and after, so that no crash between loses the signal.
        self._remember(worker, ending_since=time.time(), asked=worker.asked)
        self.send(worker, how)
        self._remember(worker, ending_since=time.time(), asked=worker.asked + 1)

    def kill(self, worker: Worker) -> None:
        """End a worker as a crash would."""
        self.send(worker, signal.SIGKILL)

    def send(self, worker: Worker, which: signal.Signals) -> None:
        """Send a signal to a worker, unless it is gone."""
        if worker.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(worker.pid, which)

    def _worker(self, number: int) -> Worker | None:
        with self._pid_file(number).open() as file:
            if _lock(file):
                self._pid_file(number).unlink()
                self._record(number).unlink(missing_ok=True)
                return None
            pid = file.read().strip()
        known = _read(self._record(number))
        return Worker(
            number=number,
            pid=int(pid) if pid else None,
            settings=known.get("settings", {}),
            ending_since=known.get("ending-since"),
            asked=known.get("asked", 0),
        )

    def _remember(self, worker: Worker, *, ending_since: float | None = None, asked: int = 0) -> None:
        known = {"settings": dict(worker.settings), "ending-since": ending_since, "asked": asked}
        replace_text(self._record(worker.number), json.dumps(known))

    def _pid_file(self, number: int) -> Path:
        return self.path / f"{PREFIX}{number}.pid"

    def _record(self, number: int) -> Path:
        return self.path / f"{PREFIX}{number}.json"


def end_workers(path: Path, *, patience: timedelta = timedelta(seconds=10)) -> None:
    """
    End every worker of a folder, wait for that, and want none any more; not from within an event loop.

    Args:
        path: of the folder; nothing happens where there is none.
        patience: how long they may take before they are killed.
    """
    if not path.exists():
        return
    folder, deadline = WorkerFolder(path), time.monotonic() + patience.total_seconds()
    with folder.locked():
        folder.keep(replace(folder.plan(), wanted=0))
        for worker in folder.living():
            folder.end(worker)
        while living := folder.living():
            for worker in living if time.monotonic() > deadline else ():
                folder.kill(worker)
            time.sleep(_POLL_S)


def _lock(file: IO[str]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _read(path: Path) -> dict[str, Any]:
    try:
        known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        message = f"{path} makes no sense: {error}. Hint: delete it; at worst, workers are replaced"
        raise UnreachableError(message) from error
    return known
