"""Ctrl-C and SIGTERM as one exception, raised once, so that the clean-up they cause is not itself interrupted."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption(BaseException):
    """
    The user or the system asked to stop.

    Not an `Exception`, so that nothing that only handles failures catches it.
    """

    def __init__(self, number: int) -> None:
        """Keep the signal's number."""
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What a shell expects of a program that a signal ended: 130 for Ctrl-C."""
        return 128 + self.number


@contextmanager
def raised() -> Iterator[None]:
    """Raise `Interruption` at the first of the signals and pass over those after it; for the main thread alone."""
    before = {number: signal.signal(number, _interrupt) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Interruption(number)
