"""`headgate jobs`: all jobs at a glance."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from headgate.cli import console
from headgate.cli.stores import store_if_kept
from headgate.config import load
from headgate.overview.fleet import look
from headgate.overview.redrawing import redraw, repeated
from headgate.overview.row import Glance, JobRow
from headgate.overview.selecting import Order, selected
from headgate.overview.table import row_json, table
from headgate.samplelog.files import root_of
from headgate.samplelog.reader import LogReader

_FRAME = 6
"""Lines of the terminal that are left to the prompt, the header, the notes and the last line."""


def jobs(
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    *,
    pattern: Annotated[
        str | None, typer.Option("--filter", "-f", metavar="GLOB", help="Only these: `prod/*`, or `orders*`.")
    ] = None,
    sort: Annotated[Order, typer.Option(help="By what; `attention` puts first what needs a look.")] = Order.ATTENTION,
    everything: Annotated[bool, typer.Option("--all", help="All, however many lines the terminal has.")] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Look again and again, until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks of --watch.")] = 5.0,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line, of all of them, for machines.")] = False,
) -> None:
    """
    List the jobs that the service looks after, those that need a look first.

    Of each: how it stands, its subtasks, how far it is behind and whether
    that grows, its busiest vertex, what would be, is being or was last done,
    why it is not scaled, and how long ago it was decided on. It reads the
    samples log and the state store, and asks no cluster.

    Next: `headgate explain JOB` says why in full, `headgate history JOB` how
    it came about.
    """
    with console.failures():
        options = load(config, os.environ, {}).options
        reader = LogReader(root_of(options.log))
        with store_if_kept(options) as store:

            def glance() -> Glance:
                return look(reader, store, datetime.now(UTC), interval=options.decide_interval)

            looks = repeated(glance, partial(time.sleep, every)) if watch else (glance(),)
            chosen = ((one, selected(one.rows, pattern, sort)) for one in looks)
            if json:
                _print(chosen)
            else:
                drawn = (table(one, rows, most=None if everything else _room()) for one, rows in chosen)
                redraw(console.out, drawn, in_place=watch)


def _room() -> int | None:
    """Give the lines that a terminal has for rows."""
    return console.out.height - _FRAME if console.out.is_terminal else None


def _print(chosen: Iterable[tuple[Glance, Sequence[JobRow]]]) -> None:
    with suppress(KeyboardInterrupt):
        for glance, rows in chosen:
            for row in rows:
                typer.echo(row_json(row))
            for note in glance.notes:
                console.note(note)
