"""
Values as text and back: what a plugin gives is read by what its port promises, and by nothing else.

No object of a plugin's own crosses the boundary, so none of its code runs on this side, and each part of an answer has
the type that it should have.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, NewType, Union, get_args, get_origin, get_type_hints

_CLASS = "class"
_MICROSECOND = timedelta.resolution


def packed(value: Any) -> bytes:
    """
    Write a value of the model as text.

    Raises:
        ValueError: something in it is no such value.
    """
    return json.dumps(_plain(value)).encode()


def unpacked(promised: Any, text: bytes) -> Any:
    """
    Read a value back as the promised type.

    Raises:
        ValueError: it is another one.
    """
    return _read(promised, json.loads(text))


def promised_by(port: Any, method: str) -> Any:
    """Give what a method of a port promises to give."""
    return get_type_hints(getattr(port, method), include_extras=True)["return"]


def _plain(value: Any) -> Any:
    for types, written in _WRITTEN:
        if isinstance(value, types):
            return written(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {_CLASS: type(value).__name__, **fields}
    message = f"a {type(value).__name__} is no value of the model"
    raise ValueError(message)


# The first that fits: an enum's member may be a text as well, and True is a number.
_WRITTEN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((NoneType, bool), lambda value: value),
    (Enum, lambda value: value.name),
    (str, str),
    (Integral, int),
    (Real, float),
    (datetime, datetime.isoformat),
    (timedelta, lambda value: value // _MICROSECOND),
    (Mapping, lambda value: [[_plain(key), _plain(each)] for key, each in value.items()]),
    ((list, tuple, frozenset, set), lambda value: [_plain(each) for each in value]),
)


def _read(promised: Any, tree: Any) -> Any:
    origin = get_origin(promised)
    if isinstance(promised, NewType):
        return _read(promised.__supertype__, tree)
    if origin is Annotated:
        return _read(get_args(promised)[0], tree)
    if origin in {Union, UnionType}:
        return _read_union(promised, tree)
    if origin is not None:
        return _read_container(origin, get_args(promised), tree)
    return _read_class(promised, tree)


def _read_union(promised: Any, tree: Any) -> Any:
    for each in get_args(promised):
        try:
            return _read(each, tree)
        except ValueError:
            continue
    raise _unlike(promised, tree)


def _read_container(origin: Any, arguments: tuple[Any, ...], tree: Any) -> Any:
    if not isinstance(tree, list):
        raise _unlike(origin, tree)
    if origin is Mapping:
        key, value = arguments
        return {_read(key, pair[0]): _read(value, pair[1]) for pair in tree if _is_pair(pair)}
    return origin(_read(arguments[0], each) for each in tree)


def _is_pair(tree: Any) -> bool:
    if isinstance(tree, list) and len(tree) == len(("key", "value")):
        return True
    raise _unlike(Mapping, tree)


def _read_class(promised: Any, tree: Any) -> Any:
    if dataclasses.is_dataclass(promised):
        return _read_fields(promised, tree)
    if isinstance(promised, type) and issubclass(promised, Enum):
        return _read_enum(promised, tree)
    written, read = _READ.get(NoneType if promised is None else promised, (None, None))
    if read is None or type(tree) not in written:
        raise _unlike(promised, tree)
    return read(tree)


def _read_fields(promised: Any, tree: Any) -> Any:
    if not isinstance(tree, dict) or tree.get(_CLASS) != promised.__name__:
        raise _unlike(promised, tree)
    hints = _hints(promised)
    try:
        return promised(**{name: _read(hints[name], each) for name, each in tree.items() if name != _CLASS})
    except KeyError as error:
        raise _unlike(promised, tree) from error


def _read_enum(promised: type[Enum], tree: Any) -> Enum:
    if isinstance(tree, str) and tree in promised.__members__:
        return promised[tree]
    # A plain text that stands for a member of a `StrEnum` is as good.
    found = [member for member in promised if member.value == tree]
    if found:
        return found[0]
    raise _unlike(promised, tree)


def _read_instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        message = f"the instant {text} has no time zone"
        raise ValueError(message)
    return instant


_READ: Mapping[Any, tuple[Any, Any]] = {
    NoneType: ({NoneType}, lambda tree: tree),
    bool: ({bool}, bool),
    int: ({int}, int),
    float: ({float, int}, float),
    str: ({str}, str),
    datetime: ({str}, _read_instant),
    timedelta: ({int}, lambda tree: tree * _MICROSECOND),
}
"""What is read from what."""


@cache
def _hints(promised: Any) -> Mapping[str, Any]:
    return get_type_hints(promised, include_extras=True)


def _unlike(promised: Any, tree: Any) -> ValueError:
    wanted = getattr(promised, "__name__", str(promised))
    found = tree.get(_CLASS) if isinstance(tree, dict) else json.dumps(tree)[:60]
    return ValueError(f"{found} is no {wanted}")
