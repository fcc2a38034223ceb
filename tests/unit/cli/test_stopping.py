"""Signals that stop a service: the first asks, time and the second one insist."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from headgate.cli.stopping import OVERDUE, SIGNALS, Stop

PATIENCE_S = 30.0


class Ended:
    """Takes the place of the process's end."""

    def __init__(self) -> None:
        """Go on."""
        self.status: int | None = None
        self.happened = threading.Event()

    def __call__(self, status: int) -> None:
        """End."""
        self.status = status
        self.happened.set()


@pytest.fixture
def ended() -> Iterator[Ended]:
    """Put the handlers of signals back afterwards."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield Ended()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
async def test_the_first_signal_asks(ended: Ended, number: signal.Signals) -> None:
    """Whoever waits for it goes on, and nothing is ended."""
    stop = Stop(lambda: timedelta(hours=1), end=ended)
    stop.listen()
    signal.raise_signal(number)
    async with asyncio.timeout(PATIENCE_S):
        await stop.wanted.wait()
    assert ended.status is None


async def test_the_second_signal_ends_it(ended: Ended) -> None:
    """With the status of a process that the signal has killed, though nobody has even noticed the first one."""
    Stop(lambda: timedelta(hours=1), end=ended).listen()
    signal.raise_signal(signal.SIGTERM)
    assert ended.status is None
    signal.raise_signal(signal.SIGINT)
    assert ended.status == 128 + signal.SIGINT


async def test_what_takes_too_long_is_ended(ended: Ended, capfd: pytest.CaptureFixture[str]) -> None:
    """Also where the event loop itself hangs, as it does here: nothing is awaited."""
    Stop(lambda: timedelta(milliseconds=1), end=ended).listen()
    signal.raise_signal(signal.SIGTERM)
    assert ended.happened.wait(PATIENCE_S)
    assert ended.status == OVERDUE
    assert "the stop took longer than stop.time-limit" in capfd.readouterr().err


def test_a_signal_after_the_loop_has_ended_is_no_error(ended: Ended) -> None:
    """The process is about to end, and what hangs then is ended too."""

    async def serve() -> None:
        Stop(lambda: timedelta(milliseconds=1), end=ended).listen()

    asyncio.run(serve())
    signal.raise_signal(signal.SIGTERM)
    assert ended.happened.wait(PATIENCE_S)
