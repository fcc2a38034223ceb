"""`headgate events`: what was told, read back from the table of events."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic_core import to_json

from headgate.cli import console
from headgate.cli.since import Since, beginning
from headgate.config import load
from headgate.errors import ConfigError
from headgate.events.opening import SQL, open_database
from headgate.events.reading import KeptEvent, read_events
from headgate.options.events import EventOptions
from headgate.stores.connecting import connect

connect_to = partial(connect, answer_within=timedelta(seconds=10))


def events(
    job: Annotated[
        str | None, typer.Argument(help="`cluster/job`, the job's name alone, or a cluster; all without.")
    ] = None,
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    *,
    since: Since = "1d",
    limit: Annotated[int, typer.Option(min=1, help="How many of the latest at most.")] = 1_000,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line, for machines.")] = False,
) -> None:
    """Show the events that the handler `sql` has kept, oldest first, each with its repetitions."""
    with console.failures():
        begin = beginning(since, datetime.now(UTC))
        options = load(config, os.environ, {}).options.events
        with closing(open_database(_keeping(options), connect_to)) as database:
            found = read_events(database, since=begin, subject=job, limit=limit)
    for one in found:
        if json:
            typer.echo(_json(one))
        else:
            console.out.print(_line(one))


def _keeping(options: EventOptions) -> EventOptions:
    if SQL not in options.handlers:
        fault = "events.handlers does not name sql, so that no events are kept. Hint: `events.handlers: [log, sql]`"
        raise ConfigError([fault])
    return options


def _json(event: KeptEvent) -> str:
    return to_json(event).decode()


def _line(event: KeptEvent) -> str:
    times = f", {event.count} times since {event.first_at:%m-%d %H:%M:%S}" if event.count > 1 else ""
    color = "yellow" if event.type == "Warning" else "default"
    head = f"{event.last_at:%Y-%m-%d %H:%M:%S} [{color}]{event.reason}[/] [bold]{console.shown(event.subject)}[/]"
    return f"{head}{times}: {console.shown(event.message)}"
