"""Waiting for what a real cluster comes to."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

_LIMIT = timedelta(minutes=3)


def wait_until(reached: Callable[[], bool], *, poll_s: float) -> None:
    """
    Wait for a condition, looked at so often.

    Raises:
        TimeoutError: it did not come.
    """
    deadline = time.monotonic() + _LIMIT.total_seconds()
    while not reached():
        if time.monotonic() > deadline:
            message = f"not within {_LIMIT}"
            raise TimeoutError(message)
        time.sleep(poll_s)
