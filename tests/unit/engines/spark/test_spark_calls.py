"""Blocking calls from a coroutine."""

from __future__ import annotations

import threading

import pytest

from headgate.engines.spark.attached.calls import Calls
from headgate.errors import NotFoundError, UnreachableError

PATIENT_S = 600.0


async def test_calls_are_made_by_one_thread_that_keeps_nobody_from_ending() -> None:
    """Each thread would be one more connection to the JVM."""
    calls = Calls(PATIENT_S)
    first, second = await calls.make(threading.current_thread), await calls.make(threading.current_thread)
    assert first is second
    assert first.daemon
    calls.close()
    first.join(PATIENT_S)
    assert not first.is_alive()


async def test_a_failure_reaches_whoever_asked_and_nobody_else() -> None:
    """The next call is made as usual."""
    calls = Calls(PATIENT_S)

    def fail() -> None:
        message = "the application has ended"
        raise NotFoundError(message)

    with pytest.raises(NotFoundError):
        await calls.make(fail)
    assert await calls.make(lambda: 5) == 5
    calls.close()


async def test_a_call_that_hangs_is_an_error() -> None:
    """Nobody waits for it for ever."""
    calls, released = Calls(0.01), threading.Event()
    with pytest.raises(UnreachableError, match="no answer within"):
        await calls.make(released.wait)
    released.set()
    calls.close()
