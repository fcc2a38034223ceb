"""What is left of process groups whose leaders have ended: executors, and the JVMs of drivers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta

_POLL_S = 0.05


def end_groups(groups: Iterable[int], patience: timedelta) -> None:
    """
    Wait until no process of these groups is left; kill those that are there after `patience`.

    Args:
        groups: that were told to end already.
        patience: for all together.
    """
    deadline = time.monotonic() + patience.total_seconds()
    for group in groups:
        while (lives := is_living(group)) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        # One that was empty may be somebody else's by now.
        if lives:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)


def is_living(group: int) -> bool:
    """Tell whether a process of a group is left; one that is another user's is none of ours."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
