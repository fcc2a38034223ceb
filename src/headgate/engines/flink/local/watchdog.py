"""
Kills process groups when its parent is gone, in whatever way: even SIGKILL closes the pipe that it reads.

Run by its path as a child with a pipe on standard input: a line `+GROUP` guards a group, `-GROUP` stops
guarding it. (`PR_SET_PDEATHSIG` would do on Linux alone, and fires when the starting *thread* ends.)
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress


def guarded(lines: Iterable[str]) -> frozenset[int]:
    """Return the groups that are guarded when the lines come to their end."""
    groups: set[int] = set()
    for line in lines:
        change, group = line[0], int(line[1:])
        (groups.add if change == "+" else groups.discard)(group)
    return frozenset(groups)


if __name__ == "__main__":
    for left_over in guarded(sys.stdin):
        with suppress(ProcessLookupError):
            os.killpg(left_over, signal.SIGKILL)
