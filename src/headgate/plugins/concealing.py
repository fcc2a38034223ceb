"""Keeping what a plugin was given in confidence out of what is told of it."""

from __future__ import annotations

from collections.abc import Iterable

_MASK = "***"
_SHORTEST = 4
"""Masking shorter texts would riddle a message with stars and protect nothing."""


def concealed(text: str, secrets: Iterable[str]) -> str:
    """Mask each of the secrets in a text, the longest first."""
    for secret in sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text
