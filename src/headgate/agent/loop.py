"""The agent's control loop in a thread beside the application, which never waits for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from threading import Event as Flag
from threading import Thread, current_thread

from headgate.agent.log import LOGGER
from headgate.control.observation import Observation
from headgate.control.orders import OrderBook
from headgate.control.runner import Runner, TickRun, Work
from headgate.control.threads import DaemonExecutor
from headgate.model.identity import JobKey

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
"""Between two attempts to go on after what no tick could catch."""
_PATIENCE_S = 5.0
"""How long whoever ends the loop waits for a tick under way."""
_BESIDE = 10
"""Tasks beside the ticks that are held on to: an event loop alone may lose them."""


class ControlLoop:
    """
    Ticks until it is told to stop or the application is gone; nothing ever leaves its thread.

    The thread is a daemon: an application that ends without a word takes it along.
    """

    def __init__(
        self,
        runner: Callable[[Callable[[TickRun], None]], Runner],
        *,
        is_alive: Callable[[], bool],
        on_end: Callable[[], None],
    ) -> None:
        """
        Start nothing yet.

        Args:
            runner: makes what ticks, with a listener to its ticks.
            is_alive: tells whether the application is there still; asked after each tick.
            on_end: called in the thread when the loop has ended, for whatever reason.
        """
        self._runner = runner(self._watch)
        self._is_alive = is_alive
        self._on_end = on_end
        self._told = Flag()
        self._loop = asyncio.new_event_loop()
        self._stop: asyncio.Event | None = None
        self._after: Callable[[], None] = lambda: None
        self._beside: deque[asyncio.Task[None]] = deque(maxlen=_BESIDE)
        self._thread = Thread(target=self._run, name="headgate", daemon=True)

    @property
    def latest(self) -> Mapping[JobKey, Observation]:
        """What is known of the application."""
        return self._runner.latest

    @property
    def orders(self) -> OrderBook:
        """What people have ordered, as its cycles know it."""
        return self._runner.cycle.outbox.book

    @property
    def is_running(self) -> bool:
        """Whether it was started, has not ended and was not told to."""
        return self._thread.is_alive() and not self._told.is_set()

    @property
    def has_thread(self) -> bool:
        """Whether its thread is there still: told to stop, it may yet see a tick through."""
        return self._thread.is_alive()

    def after_decisions(self, action: Callable[[], None]) -> None:
        """Let something be done after each tick that decides; it must neither wait nor raise."""
        self._after = action

    def start(self) -> None:
        """Begin to tick."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait a little for a tick under way; from within the thread itself wait for nothing."""
        self._told.set()
        with suppress(RuntimeError):  # the event loop is closed already
            self._loop.call_soon_threadsafe(self._tell)
        if self._thread.is_alive() and self._thread is not current_thread():
            self._thread.join(_PATIENCE_S)

    def call(self, action: Callable[[], Awaitable[None]]) -> None:
        """Let the loop do something beside its ticks, and wait for nothing; what fails is logged."""
        with suppress(RuntimeError):  # the event loop is closed already
            self._loop.call_soon_threadsafe(lambda: self._beside.append(self._loop.create_task(_made(action))))

    def _run(self) -> None:
        self._loop.set_default_executor(DaemonExecutor())
        self._tick()
        with suppress(Exception):
            self._loop.run_until_complete(_cancel_others())
        with suppress(Exception):
            self._on_end()
        with suppress(Exception):
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def _tick(self) -> None:
        """Tick; after what no tick could catch begin anew, at growing distances."""
        pause = _FIRST_PAUSE_S
        while not self._told.is_set():
            try:
                self._loop.run_until_complete(self._until_told())
            except Exception:  # noqa: BLE001 - nothing may leave the thread, whatever it is
                with suppress(Exception):
                    LOGGER.exception("the control loop failed, the application is left as it is for %g s", pause)
                self._told.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    async def _until_told(self) -> None:
        self._stop = asyncio.Event()
        self._tell()
        await self._runner.run(self._stop)

    def _tell(self) -> None:
        if self._told.is_set() and self._stop is not None:
            self._stop.set()

    def _watch(self, run: TickRun) -> None:
        if run.work is Work.DECIDE:
            self._after()
        if not self._is_alive():
            self._told.set()
            self._tell()


async def _made(action: Callable[[], Awaitable[None]]) -> None:
    try:
        await action()
    except Exception as error:  # noqa: BLE001 - whoever asked does not wait for it
        LOGGER.warning("the application did not do what it was asked for: %s", error)


async def _cancel_others() -> None:
    """Leave nothing behind that waits for the loop to go on."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
