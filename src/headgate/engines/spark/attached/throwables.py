"""Java's exceptions as texts that may be told: the classes and messages of one and its causes, without frames."""

from __future__ import annotations

_LONGEST = 300
_MOST = 8
"""Lines that are kept: the exception and its causes."""
_CAUSE = "Caused by: "


def without_frames(text: str) -> str:
    """Give the first line of a printed exception and those of its causes, each cut at 300 characters."""
    first, *others = [line.strip() for line in text.strip().splitlines()] or [""]
    causes = [line for line in others if line.startswith(_CAUSE)]
    return "\n".join(line[:_LONGEST] for line in [first, *causes][:_MOST])
