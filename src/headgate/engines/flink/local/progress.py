"""How long preparations tell what they are doing."""

from __future__ import annotations

import sys
from collections.abc import Callable

Progress = Callable[[str], None]
"""Is called with one line of text before each step that takes seconds."""


def silently(_line: str, /) -> None:
    """Tell nobody."""


def to_stderr(line: str, /) -> None:
    """Print the line where it does not mix with a program's answer."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
