"""`headgate history`: what happened to one job, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from headgate.cli import console
from headgate.cli.events import connect_to
from headgate.cli.since import Since, beginning
from headgate.cli.stores import store_if_kept
from headgate.config import load
from headgate.events.opening import SQL, open_database
from headgate.events.reading import KeptEvent, read_events
from headgate.model.identity import JobKey
from headgate.options.events import EventOptions
from headgate.overview.finding import REMEMBERED, find_job, known_jobs
from headgate.overview.reading import past
from headgate.overview.story import entry_json, story
from headgate.samplelog.files import root_of
from headgate.samplelog.reader import LogReader


def history(
    job: Annotated[str, typer.Argument(help="`cluster/job`, or the job's name where only one cluster has it.")],
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    *,
    since: Since = "1d",
    json: Annotated[bool, typer.Option("--json", help="One JSON object an entry, for machines.")] = False,
) -> None:
    """
    Tell what happened to a job, and why.

    Rescales stand in it with their numbers and what became of them,
    rollbacks, orders and events; decisions that changed nothing are told as
    stretches of time with their reason. Above them charts of the
    parallelism, the lag and the busiest vertex; below what is remembered of
    the job now. Times are UTC.
    """
    with console.failures():
        now = datetime.now(UTC)
        begin = beginning(since, now)
        options = load(config, os.environ, {}).options
        reader = LogReader(root_of(options.log))
        with store_if_kept(options) as store:
            key = find_job(job, known_jobs(options, now, within=max(REMEMBERED, now - begin)))
            events = partial(_events, options.events, key, begin)
            told = past(key, reader, store, events, since=begin, now=now, interval=options.decide_interval)
    for note in told.notes:
        console.note(note)
    for line in map(partial(entry_json, told), told.entries) if json else ():
        typer.echo(line)
    for line in story(told, width=console.out.width) if not json else ():
        console.out.print(line, highlight=False)


def _events(options: EventOptions, job: JobKey, since: datetime) -> Sequence[KeptEvent]:
    if SQL not in options.handlers:
        return ()
    with closing(open_database(options, connect_to)) as database:
        return read_events(database, since=since, subject=str(job))
