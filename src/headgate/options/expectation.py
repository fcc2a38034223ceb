"""What an option expects, in words: for faults in a configuration and for the reference page alike."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from headgate.options.declaration import Options
from headgate.options.units import MemorySize, format_duration

_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "a path",
    timedelta: "a duration",
    MemorySize: "a memory size",
}
_BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}


def expected(annotation: Any) -> str:
    """Say what values fit an option's annotation, for example `a number, above 0, at most 1`."""
    kind, constraints = bare(annotation)
    return ", ".join([_kind(kind), *_bounds(constraints)])


def bare(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Take an annotation apart into its type, without `| None`, and its constraints."""
    if get_origin(annotation) in {Union, UnionType}:
        return bare(next(each for each in get_args(annotation) if each is not NoneType))
    if get_origin(annotation) is Annotated:
        kind, *constraints = get_args(annotation)
        return kind, tuple(constraints)
    return annotation, ()


def _kind(kind: Any) -> str:
    if get_origin(kind) is Mapping:
        return "a section of names and texts"
    if get_origin(kind) is tuple:
        return _listing(get_args(kind)[0])
    if _is(kind, Options):
        return "a section"
    if _is(kind, StrEnum):
        return f"one of {', '.join(kind)}"
    return _WORDS[kind]


def _listing(kind: Any) -> str:
    if _is(kind, StrEnum):
        return f"a list out of {', '.join(kind)}"
    return f"a list of {'sections' if _is(kind, Options) else 'texts'}"


def _bounds(constraints: tuple[Any, ...]) -> list[str]:
    return [
        f"{word} {_number(bound)}"
        for constraint in constraints
        for name, word in _BOUNDS.items()
        if (bound := getattr(constraint, name, None)) is not None
    ]


def _number(bound: Any) -> str:
    return format_duration(bound) if isinstance(bound, timedelta) else f"{bound:.10g}"


def _is(kind: Any, parent: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, parent)
