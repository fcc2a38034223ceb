"""How commands speak: results on standard output, everything else on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape

from headgate.errors import ConfigError, HeadgateError
from headgate.model.printable import printable

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)


@contextmanager
def failures() -> Iterator[None]:
    """Turn Headgate's errors into a readable line and an exit status: 2 for configuration, else 1."""
    try:
        yield
    except ConfigError as error:
        _tell(error)
        raise typer.Exit(2) from error
    except HeadgateError as error:
        _tell(error)
        raise typer.Exit(1) from error


def note(text: str) -> None:
    """Say something beside the results; it may name what others have named."""
    err.print(shown(text))


def shown(text: str) -> str:
    """Give a text that others may have had a hand in as it can stand among markup."""
    return escape(printable(text))


def _tell(error: HeadgateError) -> None:
    """Print an error, of which a list of faults has several lines."""
    text = "\n".join(map(printable, str(error).split("\n")))
    err.print(f"[bold red]error:[/] {escape(text)}")
