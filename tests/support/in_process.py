"""The service inside of a test's own process: no interpreter to start, which costs seconds, and nothing to kill."""

from __future__ import annotations

import asyncio
import threading
from typing import Self

import structlog

from headgate.cli.logs import settings
from headgate.config import load
from headgate.events.log import LogEventHandler
from headgate.model.decision import Decision
from headgate.testing.process import RunningService
from headgate.wiring import service

_STOP_PATIENCE_S = 30.0


class HeadgateInProcess(RunningService):
    """What `headgate run` would run by the same file, in a thread with an event loop of its own."""

    _thread: threading.Thread | None = None
    _failure: BaseException | None = None
    _loop: asyncio.AbstractEventLoop
    _stopped: asyncio.Event

    def __enter__(self) -> Self:
        """Start the thread."""
        began = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(began,), name="headgate")
        self._thread.start()
        began.wait()
        return self

    def __exit__(self, *failure: object) -> None:
        """End the thread; a failure of the service is this test's as well."""
        if self.stop() and failure[0] is None and self._failure is not None:
            raise self._failure

    def stop(self) -> int:
        """Ask it to end, wait for that, and return the exit status that a process would have."""
        assert self._thread is not None, "the service was never started"
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(_STOP_PATIENCE_S)
        assert not self._thread.is_alive(), "the service does not end"
        return int(self._failure is not None)

    @property
    def running(self) -> bool:
        """Whether the thread was started and has not ended."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self, began: threading.Event) -> None:
        with self.output.open("a", encoding="utf-8", buffering=1) as output:
            log = structlog.wrap_logger(structlog.PrintLogger(output), **settings(json=True))
            try:
                asyncio.run(self._serve(log, began))
            except BaseException as failure:  # noqa: BLE001 - the test's thread raises it
                self._failure = failure
                log.error("ended", message=repr(failure))

    async def _serve(self, log: structlog.typing.FilteringBoundLogger, began: threading.Event) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        began.set()
        options = load(self.config, {}, {}).options

        def told(decisions: tuple[Decision, ...]) -> None:
            for one in decisions:
                log.info("decision", job=str(one.job), reason=one.reason.value, message=one.message)

        async with service(options, events=LogEventHandler(log), on_decisions=told, on_early_decisions=told) as runner:
            await runner.run(self._stopped)
