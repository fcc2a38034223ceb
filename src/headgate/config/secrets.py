"""
References to secrets in option values, resolved at the last moment, and the means to keep secrets out of texts.

Options hold the reference `${env:NAME}` or `${file:PATH}` as it was written; only whoever sends the value resolves it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

MASK = "***"
_REFERENCE = re.compile(r"\$\{(?P<kind>env|file):(?P<name>[^}]+)\}")
_SHORTEST = 4
"""Masking shorter texts would riddle a message with stars and protect nothing."""


class Secret:
    """A value that does not show itself: its `str` and `repr` are `***`, `reveal()` gives it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Hide the value."""
        self._value = value

    def reveal(self) -> str:
        """Give the value, to be sent and not to be kept."""
        return self._value

    def __repr__(self) -> str:
        """Give the mask."""
        return MASK

    def __eq__(self, other: object) -> bool:
        """Compare the hidden values."""
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        """Hash the hidden value."""
        return hash(self._value)


def resolve(text: str) -> str:
    """
    Replace every `${env:NAME}` and `${file:PATH}`; a file's trailing line ends are dropped.

    Raises:
        ValueError: the variable is not set, or the file cannot be read.
    """
    return _REFERENCE.sub(_look_up, text)


def references(text: str) -> tuple[str, ...]:
    """Give the references in a text as they are written, in order."""
    return tuple(match.group() for match in _REFERENCE.finditer(text))


def redact(text: str, secrets: Iterable[str]) -> str:
    """Mask every occurrence of the secrets, the longest first; those under four characters stay."""
    for secret in sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def _look_up(match: re.Match[str]) -> str:
    name = match["name"]
    return _read_variable(name) if match["kind"] == "env" else _read_file(Path(name))


def _read_variable(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        message = f"environment variable {name} is not set. Hint: it is named by ${{env:{name}}}"
        raise ValueError(message)
    return value


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        message = f"secret file {path} cannot be read: {error}. Hint: it is named by ${{file:{path}}}"
        raise ValueError(message) from error
