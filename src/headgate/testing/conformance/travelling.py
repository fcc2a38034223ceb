"""What becomes of values on their way to a worker process and back: plugins are asked there."""

from __future__ import annotations

import pickle
from typing import Any, TypeVar

from headgate.plugins.worker.wire import packed, promised_by, unpacked

T = TypeVar("T")


def sent(value: T) -> T:
    """Give the value as another process receives it."""
    received: T = pickle.loads(pickle.dumps(value))  # noqa: S301 - packed on the same line
    return received


def answered(port: type, method: str, answer: T) -> T:
    """
    Give the answer of a port's method as Headgate receives it from another process: as the type that was promised.

    Raises:
        ValueError: it is of another type.
    """
    received: Any = unpacked(promised_by(port, method), packed(answer))
    given: T = received
    return given
