"""Files as trees with line numbers: YAML and TOML alike, every scalar kept as the text that was written."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

import yaml

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


def parse_yaml(text: str) -> Tree:
    """
    Read one YAML document; aliases are followed, tags are not.

    Raises:
        ParseError: it is not YAML, or an alias contains itself.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        return Table(()) if root is None else _from_node(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        what = f"not YAML: {error.problem}"
        raise ParseError(what, mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        what = f"not YAML: {str(error).splitlines()[0]}"
        raise ParseError(what) from error
    except RecursionError as error:
        what = "nested too deeply, or an alias contains itself"
        raise ParseError(what) from error


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


def _from_node(node: yaml.Node) -> Tree:
    line = node.start_mark.line + 1
    match node:
        case yaml.MappingNode():
            return Table(tuple((_key(key), _from_node(value)) for key, value in node.value), line)
        case yaml.SequenceNode():
            return Listing(tuple(_from_node(item) for item in node.value), line)
        case _:
            return Scalar(None if node.tag.endswith(":null") else node.value, line)


def _key(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    what = "a key must be a text"
    raise ParseError(what, node.start_mark.line + 1)


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
