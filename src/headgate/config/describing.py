"""Options as texts: what `headgate config check` prints, with every secret hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from headgate.config.loading import Loaded
from headgate.config.origins import Origin
from headgate.config.secrets import MASK, references, resolve
from headgate.options.declaration import Declaration, Options, declarations, table_prefix
from headgate.options.expectation import bare
from headgate.options.service import JobOptions
from headgate.options.units import MemorySize, format_duration, format_memory_size

DEFAULT = "default"
_USER = re.compile(r"(?<=://).*@", re.DOTALL)
"""Up to the last `@`: a database's password may hold anything."""
_ADDRESS = re.compile(r"[\w+-]+://")
_QUERY = re.compile(r"\?.*", re.DOTALL)


class Described(NamedTuple):
    """One option in force."""

    key: str
    value: str
    origin: str


def describe(loaded: Loaded) -> list[Described]:
    """
    List every option in force with its value and where it is set.

    Of the entries of `jobs` only what they set themselves is listed; the rest stands in the general options. Values
    that may be secrets are masked, references to secrets are shown as they are.
    """
    return [
        Described(_known_as(key, declaration), shown(declaration, value), str(loaded.origins.get(key, DEFAULT)))
        for key, declaration, value in _values(loaded.options, "", loaded.origins)
    ]


def unresolvable(loaded: Loaded) -> tuple[str, ...]:
    """Name each reference to a secret that cannot be resolved now, with its place; the values are discarded."""
    return tuple(
        f"{loaded.origins.get(key, DEFAULT)}: {key}: {why}"
        for key, declaration, value in _values(loaded.options, "", loaded.origins)
        if declaration.secret and (why := _failure(value))
    )


def shown(declaration: Declaration, value: Any) -> str:
    """Write a value for people: as `written`, but what may be a secret is masked."""
    is_size = value is not None and bare(declaration.annotation)[0] is MemorySize
    text = format_memory_size(value) if is_size else written(value)
    if not declaration.secret or _is_reference(text):
        return text
    if isinstance(value, tuple):
        return ", ".join(_masked(item) for item in value)
    return MASK if declaration.is_table else _without_login(text)


def _masked(item: str) -> str:
    """Show of an address what is no secret, and of anything else nothing."""
    if _is_reference(item):
        return item
    return _without_login(item) if _ADDRESS.match(item) else MASK


def _without_login(text: str) -> str:
    return _QUERY.sub(f"?{MASK}", _USER.sub(f"{MASK}@", text))


def written(value: Any) -> str:
    """Write a value as a file may hold it."""
    match value:
        case None:
            return "unset"
        case bool():
            return str(value).lower()
        case timedelta():
            return format_duration(value)
        case tuple():
            return ", ".join(value)
        case _:
            return str(value)


def _known_as(key: str, declaration: Declaration) -> str:
    """Give the key under which people know an option, the entry of `jobs` that it stands in included."""
    entry, bracket, _ = key.rpartition("].")
    return f"{entry}{bracket}{declaration.apart[0]}" if declaration.apart else key


def _values(options: Options, prefix: str, origins: Mapping[str, Origin]) -> Iterator[tuple[str, Declaration, Any]]:
    """Go through the options, the groups and tables inside them included."""
    for declaration in declarations(type(options)):
        key, value = prefix + declaration.key, getattr(options, declaration.name)
        if declaration.group:
            yield from _values(value, f"{key}.", origins)
        elif declaration.listed_group:
            for index, item in enumerate(value):
                yield from _item_values(item, f"{key}[{index}].", origins)
        elif declaration.is_table:
            yield from ((table_prefix(key) + name, declaration, text) for name, text in value.items())
        else:
            yield key, declaration, value


def _item_values(item: Options, prefix: str, origins: Mapping[str, Origin]) -> Iterator[tuple[str, Declaration, Any]]:
    values = _values(item, prefix, origins)
    return (each for each in values if each[0] in origins) if isinstance(item, JobOptions) else values


def _is_reference(text: str) -> bool:
    return references(text) == (text,)


def _failure(value: str | tuple[str, ...] | None) -> str | None:
    try:
        resolve(value if isinstance(value, str) else " ".join(value or ()))
    except ValueError as error:
        return str(error)
    return None
