"""A worker process from outside: started when first asked, killed when it hangs, started anew when asked again."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Lock

from headgate.plugins.worker.channel import Channel
from headgate.plugins.worker.requests import RAISED, Recipe, Request

TOLERATED = 3
"""How many deaths within `MEMORY_S` make a worker rest: a tick is not to wait for one hang after the other."""
MEMORY_S = 60.0

_MODULE = "headgate.plugins.worker"
_STDERR = 2
_STOPPING = "is not asked any more: Headgate is stopping"


class WorkerError(Exception):
    """There is no answer; the text says why, with no number that differs from time to time."""


class WorkerProcess:
    """One call at a time; safe to use from several threads."""

    def __init__(self, *, stopwatch: Callable[[], float] = time.monotonic) -> None:
        """Start nothing yet."""
        self._stopwatch = stopwatch
        self._lock = Lock()
        """Held for as long as a call takes."""
        self._ends = Lock()
        """Held for an instant: no process is started past `close`, and none killed that is gone already."""
        self._closed = False
        self._made: set[Recipe] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._deaths: deque[float] = deque(maxlen=TOLERATED)

    @property
    def pid(self) -> int | None:
        """The process id; None while there is none."""
        return self._process.pid if self._process else None

    def ask(self, request: Request, *, start_seconds: float) -> bytes:
        """
        Give the reply to a request, waiting for calls before it.

        A plugin that this process has not made yet is made first, with `start_seconds` of time for it: imports take
        longer than an answer.

        Raises:
            WorkerError: none came in time, the process died, or too many have died lately.
        """
        with self._lock:
            if self._closed:
                raise WorkerError(_STOPPING)
            if self._rests():
                message = f"is not asked for a while: it hung or died {TOLERATED} times within {MEMORY_S:g} s"
                raise WorkerError(message)
            if request.method is not None and request.recipe not in self._made:
                reply = self._asked(replace(request, method=None, arguments=(), seconds=start_seconds))
                if reply.startswith(RAISED.encode()):
                    return reply
            return self._asked(request)

    def close(self) -> None:
        """End the process, if there is one, whoever waits for its answer; none is started any more."""
        with self._ends:
            self._closed = True
            self._kill()
            if self._channel:
                self._channel.interrupt()
        with self._lock:
            self._end()

    def _asked(self, request: Request) -> bytes:
        channel = self._channel or self._start()
        message = pickle.dumps(request)
        try:
            channel.send(message, seconds=request.seconds)
            reply = channel.receive(seconds=request.seconds)
        except OSError as error:
            late = f"gave no answer within {request.seconds:g} s; its worker process was killed"
            text = late if isinstance(error, TimeoutError) else "made its worker process die"
            self._died()
            raise WorkerError(_STOPPING if self._closed else text) from error
        if not reply.startswith(RAISED.encode()):
            self._made.add(request.recipe)
        return reply

    def _rests(self) -> bool:
        return len(self._deaths) == TOLERATED and self._stopwatch() - self._deaths[0] < MEMORY_S

    def _died(self) -> None:
        self._deaths.append(self._stopwatch())
        self._end()

    def _start(self) -> Channel:
        ours, theirs = socket.socketpair()
        with theirs:
            # A new interpreter, not a fork: threads and open connections are not carried over.
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=_STDERR,  # what a plugin prints must not get between the lines of a command
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,
            )
        channel = Channel(ours)
        with self._ends:
            self._process, self._channel = process, channel
            closed = self._closed
        if closed:
            self._end()
            raise WorkerError(_STOPPING)
        return channel

    def _end(self) -> None:
        with self._ends:
            self._kill()
            process, channel = self._process, self._channel
            self._process = self._channel = None
        self._made.clear()
        if channel:
            channel.close()
        if process:
            process.wait()

    def _kill(self) -> None:
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
