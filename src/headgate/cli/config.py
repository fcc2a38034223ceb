"""`headgate config`: look at the configuration before anything runs on it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headgate.cli import console
from headgate.config import describe, load, unmakeable, unresolvable
from headgate.config.launches import remarks
from headgate.errors import ConfigError

app = typer.Typer(help="Look at the configuration before anything runs on it.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Keep `config` a group although it has one command."""


@app.command("check")
def check(
    config: Annotated[Path, typer.Option("--config", "-c", help="YAML or TOML file.")] = Path("headgate.yaml"),
    *,
    as_json: Annotated[bool, typer.Option("--json", help="The options as a JSON list.")] = False,
) -> None:
    """
    Report all faults together, each with file, line, key and what was expected; else every value and its origin.

    Secrets are resolved to see that they are there, and never shown. Plugins are made once with their parameters.
    """
    with console.failures():
        loaded = load(config, os.environ, {})
        if faults := unresolvable(loaded) or unmakeable(loaded.options, loaded.origins):
            raise ConfigError(faults)
    if as_json:
        typer.echo(json.dumps([option._asdict() for option in describe(loaded)], indent=2))
        return
    rows = [("option", "value", "from"), *describe(loaded)]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for key, value, origin in rows:  # never cut: these lines are searched and compared
        typer.echo(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {origin}")
    for warning in loaded.warnings:
        console.err.print(f"[yellow]warning:[/] {escape(warning)}")
    for remark in remarks(loaded.options):
        console.err.print(f"[bold]note:[/] {escape(remark)}")
    console.err.print("no faults")
