"""Values that may change while the service runs: given as they are, or as a function that gives what holds now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Live: TypeAlias = T | Callable[[], T]
"""A value, or a function that gives it; the values themselves are never functions."""


def in_force(value: Live[T]) -> T:
    """Give what holds now."""
    return value() if callable(value) else value
