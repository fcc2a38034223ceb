"""Draws the same thing anew every few seconds: in place on a terminal, one below the other everywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

from rich.console import Console, RenderableType
from rich.live import Live

T = TypeVar("T")

_WIDE = 10_000
"""Columns where nobody looks at the width: a pipe loses nothing."""


def redraw(console: Console, frames: Iterable[RenderableType], *, in_place: bool) -> None:
    """Draw one frame after the other, each over the one before where that is asked for and can be."""
    if in_place and console.is_terminal:
        with suppress(KeyboardInterrupt), Live(console=console, auto_refresh=False) as live:
            for frame in frames:
                live.update(frame, refresh=True)
        return
    wide = console if console.is_terminal else Console(file=console.file, width=_WIDE)
    with suppress(KeyboardInterrupt):
        for frame in frames:
            wide.print(frame, soft_wrap=False)


def repeated(take: Callable[[], T], pause: Callable[[], None]) -> Iterator[T]:
    """Give what is taken now, and again after each pause, without end."""
    while True:
        yield take()
        pause()
