"""`headgate config`: look at the configuration before anything runs on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from headgate.cli import console
from headgate.config import describe, load, unresolvable
from headgate.errors import ConfigError

app = typer.Typer(help="Look at the configuration before anything runs on it.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Keep `config` a group although it has one command."""


@app.command("check")
def check(
    config: Annotated[Path, typer.Option("--config", "-c", help="YAML or TOML file.")] = Path("headgate.yaml"),
) -> None:
    """
    Report all faults together, each with file, line, key and what was expected; else every value and its origin.

    Secrets are resolved to see that they are there, and never shown.
    """
    with console.failures():
        loaded = load(config, os.environ, {})
        if faults := unresolvable(loaded):
            raise ConfigError(faults)
    table = Table("option", "value", "from", box=None, pad_edge=False)
    for key, value, origin in describe(loaded):
        table.add_row(key, escape(value), escape(origin))
    console.out.print(table)
    for warning in loaded.warnings:
        console.err.print(f"[yellow]warning:[/] {escape(warning)}")
    console.err.print("no faults")
