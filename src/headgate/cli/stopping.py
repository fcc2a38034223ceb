"""How `headgate run` is stopped: what is under way is finished, unless that takes too long or somebody insists."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from threading import Thread, Timer

from headgate.cli import logs
from headgate.options.units import format_duration

SIGNALS = (signal.SIGINT, signal.SIGTERM)
OVERDUE = 1
"""The exit status of a process whose stop took too long; who insists gets 128 and the signal's number."""
_TO_SAY_WHY_S = 1.0
_STANDARD_ERROR = 2


class Stop:
    """
    Waits for the signals that stop a service.

    The first one asks; whatever hangs then, the process ends within the time limit, at once after a second one. That is
    as safe as a kill at any other instant: what was begun is saved as an intent, which the next process goes on with.
    """

    def __init__(self, limit: Callable[[], timedelta], *, end: Callable[[int], object] = os._exit) -> None:
        """
        Have heard nothing yet.

        Args:
            limit: gives how long a stop may take, when it begins.
            end: ends the process at once, with an exit status.
        """
        self.wanted = asyncio.Event()
        self._limit = limit
        self._end = end
        self._asked = False

    def listen(self) -> None:
        """Take the signals from now on; to be called on the event loop, in the main thread."""
        loop = asyncio.get_running_loop()

        def take(number: int, _: object) -> None:
            # Not the loop's own handlers: they wait for the loop, and it may be what hangs.
            if self._asked:
                self._cut_short(f"told twice to stop, by {signal.Signals(number).name}", 128 + number)
                return
            self._asked = True
            limit = self._limit()
            why = f"the stop took longer than stop.time-limit, {format_duration(limit)}"
            overdue = Timer(limit.total_seconds(), self._cut_short, [why, OVERDUE])
            overdue.daemon = True
            overdue.start()
            with suppress(RuntimeError):  # The loop is closed: everything is over but the process.
                loop.call_soon_threadsafe(self._begin, limit)

        for number in SIGNALS:
            signal.signal(number, take)

    def _begin(self, limit: timedelta) -> None:
        logs.stopping(limit)
        self.wanted.set()

    def _cut_short(self, why: str, status: int) -> None:
        # Nobody may read what is said, and whoever writes then waits for ever.
        saying = Thread(target=_say, args=[f"ended in the middle: {why}"], daemon=True)
        saying.start()
        saying.join(_TO_SAY_WHY_S)
        self._end(status)


def _say(text: str) -> None:
    # Neither buffered nor through the log, whose locks may be held by what hangs.
    with suppress(OSError):
        os.write(_STANDARD_ERROR, f"headgate: {text}\n".encode())
