"""How commands speak: results on standard output, everything else on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape

from headgate.errors import ConfigError, HeadgateError

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)


@contextmanager
def failures() -> Iterator[None]:
    """Turn Headgate's errors into a readable line and an exit status: 2 for configuration, else 1."""
    try:
        yield
    except ConfigError as error:
        err.print(f"[bold red]error:[/] {escape(str(error))}")
        raise typer.Exit(2) from error
    except HeadgateError as error:
        err.print(f"[bold red]error:[/] {escape(str(error))}")
        raise typer.Exit(1) from error
