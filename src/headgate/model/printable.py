"""Somebody else's text, such as a job's name, written so that it moves no cursor, begins no line and hides nothing."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Write what cannot be printed, line breaks and a terminal's own orders above all, as escapes such as `\x1b`."""
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def quoted(text: str) -> str:
    """Write a text as YAML reads it, so that it stays on its line whatever is in it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{printable(escaped)}"'


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
