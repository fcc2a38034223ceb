"""Reads the parameters of a provider, which are texts that the operator wrote."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from headgate.options.units import parse_duration


class Parameters:
    """
    The texts by name.

    Raises:
        ValueError: there is one that nobody reads.
    """

    def __init__(self, texts: Mapping[str, str], *, known: tuple[str, ...]) -> None:
        """Take them, all of them known."""
        self._texts = texts
        if unknown := sorted(set(texts) - set(known)):
            message = f"unknown parameter {', '.join(unknown)}. Hint: there is {', '.join(known)}"
            raise ValueError(message)

    def text(self, name: str, default: str = "") -> str:
        """Give a parameter as it is written, without white space around it."""
        return self._texts.get(name, "").strip() or default

    def required(self, name: str, hint: str) -> str:
        """
        Give one that must be there.

        Raises:
            ValueError: it is missing or empty.
        """
        text = self.text(name)
        if not text:
            message = f"parameter {name} is missing. Hint: {hint}"
            raise ValueError(message)
        return text

    def duration(self, name: str, default: timedelta) -> timedelta:
        """
        Give a duration above zero.

        Raises:
            ValueError: it is none.
        """
        text = self.text(name)
        duration = parse_duration(text) if text else default
        if not duration:
            message = f"parameter {name} is {text!r}; it must be above zero"
            raise ValueError(message)
        return duration
