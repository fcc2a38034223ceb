"""Texts into the values of options, by their annotations; without pydantic, as an attached agent has none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args, get_origin

from headgate.options.bounds import Interval
from headgate.options.expectation import bare
from headgate.options.units import MemorySize, parse_duration, parse_memory_size

_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "off", "0"})
_WHOLE = re.compile(r"(?P<number>[+-]?\d[\d_]*)(?:\.0+)?", re.ASCII)


def coerced(annotation: Any, raw: str | Sequence[str | None]) -> Any:
    """
    Give the value that a text means, or a list of them.

    Raises:
        ValueError: it has another form, or lies outside its bounds.
    """
    kind, _ = bare(annotation)
    value = _listed(kind, raw) if get_origin(kind) is tuple else _single(kind, raw)
    return within(annotation, value)


def within(annotation: Any, value: Any) -> Any:
    """
    Give a value back.

    Raises:
        ValueError: it lies outside of its bounds.
    """
    _, bounds = bare(annotation)
    if value is None or all(bound.holds(value) for bound in bounds if isinstance(bound, Interval)):
        return value
    message = f"{value!r} is out of bounds"
    raise ValueError(message)


def _listed(kind: Any, raw: str | Sequence[str | None]) -> tuple[Any, ...]:
    return tuple(_single(get_args(kind)[0], each) for each in raw)


def _single(kind: Any, raw: Any) -> Any:
    if not isinstance(raw, str):
        message = f"{raw!r} is no single value"
        raise ValueError(message)  # noqa: TRY004 - a fault of the configuration, told like the others
    is_enum = isinstance(kind, type) and issubclass(kind, StrEnum)
    return kind(raw) if is_enum else _PARSERS[kind](raw)


def _truth(text: str) -> bool:
    word = text.lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    message = f"{text!r} is neither true nor false"
    raise ValueError(message)


def _whole(text: str) -> int:
    match = _WHOLE.fullmatch(text.strip())
    if match is None:
        message = f"{text!r} is no whole number"
        raise ValueError(message)
    return int(match["number"])


def _number(text: str) -> float:
    digits = text.strip()
    if not text.isascii() or "__" in digits or digits.strip("_") != digits:
        message = f"{text!r} is no number"
        raise ValueError(message)
    return float(digits.replace("_", ""))


_PARSERS: Mapping[Any, Callable[[str], Any]] = {
    bool: _truth,
    int: _whole,
    float: _number,
    str: str,
    Path: Path,
    timedelta: parse_duration,
    MemorySize: parse_memory_size,
}
