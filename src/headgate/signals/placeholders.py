"""
Names of jobs inside queries: `${job}`, `${job-id}`, `${cluster}` and `${vertex}`, quoted for the place they stand in.

A job's name is its owner's choice and may hold anything; it never becomes more than one text of a query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from headgate.model.identity import VertexId
from headgate.model.pattern import fits
from headgate.options.signals import SignalOptions
from headgate.ports import JobContext

NAMES = ("job", "job-id", "cluster", "vertex")
Values = Mapping[str, str | None]
"""What each name stands for in the query of one job; None where that is not known."""

_PLACEHOLDER = re.compile(r"\$\{(?P<name>[a-z-]+)(?P<regex>:regex)?\}")
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")


class PlaceholderError(ValueError):
    """A placeholder cannot be filled in; the text says which and why."""


def used(text: str) -> Iterator[str]:
    """Give the names of the placeholders in a text, as often as they stand there."""
    return (match["name"] for match in _PLACEHOLDER.finditer(text))


def values_for(ctx: JobContext, signal: SignalOptions) -> Values:
    """Give what the placeholders stand for; the vertex is None unless the signal is about exactly one."""
    found = tuple(vertices_like(ctx, signal.vertex))
    name = ctx.vertices[found[0]] if len(found) == 1 else None
    return {"job": ctx.key.name, "job-id": ctx.job_id, "cluster": ctx.key.cluster, "vertex": name}


def vertices_like(ctx: JobContext, wanted: str | None) -> Iterator[VertexId]:
    """Give the known vertices of that id or of a name that fits; none where no vertex is wanted."""
    if wanted is None:
        return iter(())
    return (vertex for vertex, name in ctx.vertices.items() if vertex == wanted or fits(name, wanted))


def fill_query(text: str, values: Values, *, comment: str = "") -> str:
    """
    Fill placeholders into PromQL or JSONPath: between quotes escaped, elsewhere as a text in double quotes.

    `${job:regex}` fits the name literally where a regular expression is expected.

    Args:
        text: the query.
        values: what the placeholders stand for.
        comment: what begins a comment up to the end of the line, in which nothing is filled in.

    Raises:
        PlaceholderError: a placeholder is unknown or its value is, or it cannot be written in a raw text.
    """
    parts, quoted, at = list[str](), "", 0
    while at < len(text):
        placeholder = _PLACEHOLDER.match(text, at)
        if placeholder:
            parts.append(_literal(placeholder, values, quoted))
            at = placeholder.end()
            continue
        end = _token_end(text, at, quoted, comment)
        if end == at + 1 and text[at] in "\"'`":
            quoted = "" if text[at] == quoted else quoted or text[at]
        parts.append(text[at:end])
        at = end
    return "".join(parts)


def fill_path(text: str, values: Values) -> str:
    """
    Fill placeholders into the path or query of an address, percent-encoded.

    Raises:
        PlaceholderError: a placeholder is unknown or its value is.
    """
    return _PLACEHOLDER.sub(lambda match: quote(_value(match, values), safe=""), text)


def fill_text(text: str, values: Values) -> str:
    """
    Fill placeholders into a plain name, such as that of a consumer group.

    Raises:
        PlaceholderError: a placeholder is unknown or its value is.
    """
    return _PLACEHOLDER.sub(lambda match: _value(match, values), text)


def _token_end(text: str, at: int, quoted: str, comment: str) -> int:
    """Tell where a character ends together with what must not be looked at for itself."""
    if text[at] == "\\" and quoted in {"'", '"'}:
        return at + 2
    if comment and not quoted and text.startswith(comment, at):
        line_end = text.find("\n", at)
        return len(text) if line_end < 0 else line_end
    return at + 1


def _literal(match: re.Match[str], values: Values, quoted: str) -> str:
    value = _value(match, values)
    if match["regex"]:
        value = _SPECIAL.sub(r"\\\g<0>", value)
    if not quoted:
        return json.dumps(value, ensure_ascii=False)
    if quoted == "`":
        if "`" in value:
            message = f"{match.group()} stands in a raw text, and its value holds a backquote. Hint: use double quotes"
            raise PlaceholderError(message)
        return value
    escaped = json.dumps(value, ensure_ascii=False)[1:-1]
    return escaped if quoted == '"' else escaped.replace('\\"', '"').replace("'", "\\'")


def _value(match: re.Match[str], values: Values) -> str:
    if match["name"] not in values:
        message = f"{match.group()} is no placeholder. Hint: one of {', '.join(f'${{{name}}}' for name in NAMES)}"
        raise PlaceholderError(message)
    value = values[match["name"]]
    if value is None:
        message = f"{match.group()} stands for one vertex, and not exactly one is meant or known"
        raise PlaceholderError(message)
    return value
