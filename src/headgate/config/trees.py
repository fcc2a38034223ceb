"""Files as trees with line numbers: YAML and TOML alike, every scalar kept as the text that was written."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

from headgate.errors import HeadgateError


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value; None where the source says null."""

    text: str | None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Several values in order."""

    items: tuple[Tree, ...]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Keys with values, in the order and as often as they are written."""

    entries: tuple[tuple[str, Tree], ...]
    line: int | None = None


Tree = Scalar | Listing | Table


class ParseError(HeadgateError):
    """A text is not in its format; never leaves this package, where it becomes one fault of several."""

    def __init__(self, what: str, line: int | None = None) -> None:
        """Keep what is wrong and in which line."""
        super().__init__(what)
        self.line = line


def parse_toml(text: str) -> Tree:
    """
    Read a TOML document; it knows no lines.

    Raises:
        ParseError: it is not TOML, a key that stands twice included.
    """
    try:
        return _from_value(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        what = f"not TOML: {error}"
        raise ParseError(what) from error


def _from_value(value: Any) -> Tree:
    match value:
        case dict():
            return Table(tuple((key, _from_value(each)) for key, each in value.items()))
        case list():
            return Listing(tuple(_from_value(item) for item in value))
        case bool():
            return Scalar(str(value).lower())
        case _:
            return Scalar(str(value))
