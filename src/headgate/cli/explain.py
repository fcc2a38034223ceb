"""`headgate explain`: why the last cycle did or did not change a job."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headgate.algorithm.explain import explain as explanation
from headgate.cli import console
from headgate.cli.stores import opened_store
from headgate.config import load
from headgate.control.recollection import recollection
from headgate.errors import HeadgateError, NotFoundError
from headgate.model.identity import JobKey
from headgate.options.service import ServiceOptions
from headgate.samplelog.reader import LogReader
from headgate.samplelog.rows import decision_json
from headgate.stores.opening import MEMORY

_REMEMBERED = timedelta(days=1)


def explain(
    job: Annotated[str, typer.Argument(help="`cluster/job`, or the job's name where only one cluster has it.")],
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    *,
    json: Annotated[bool, typer.Option("--json", help="The whole decision as JSON.")] = False,
) -> None:
    """
    Show step by step, with the numbers, how the last decision for a job came about.

    Then what is remembered of its last rescales: what is under observation, and what was taken back and why.
    """
    with console.failures():
        options = load(config, os.environ, {}).options
        log = options.log.path
        reader = LogReader(log)
        decision = reader.latest_decision(_key(reader, job))
        if decision is None:
            message = f"the samples log at {log.absolute()} knows no decision for {job!r}"
            raise NotFoundError(message)
    if json:
        typer.echo(decision_json(decision))
        return
    for line in explanation(decision):
        typer.echo(line)
    for line in _remembered(decision.job, reader, options):
        typer.echo(f"  {line}")


def _remembered(job: JobKey, reader: LogReader, options: ServiceOptions) -> tuple[str, ...]:
    """Tell what the state store remembers of the job's last rescales; what cannot be asked spoils nothing."""
    if options.state_store == MEMORY:
        return ()
    try:
        with opened_store(options) as store:
            state = store.load(job).state
        graph = reader.latest_topology(job)
    except HeadgateError as error:
        console.err.print(escape(f"what is remembered of the job's last rescales is not known: {error}"))
        return ()
    names = {vertex.id: vertex.name for vertex in graph.vertices} if graph else {}
    return recollection(state, names, datetime.now(UTC))


def _key(reader: LogReader, text: str) -> JobKey:
    """Read a job key, or find the one job of that name in the last day."""
    if "/" in text:
        return JobKey.parse(text)
    now = datetime.now(UTC)
    jobs = reader.jobs(now - _REMEMBERED, now)
    found = [key for key in jobs if key.name == text]
    if len(found) != 1:
        which = "no job is" if not found else f"{len(found)} jobs are"
        names = ", ".join(map(str, jobs)) or "none"
        message = f"{which} called {text!r}. Hint: write cluster/job; decided on in the last day: {names}"
        raise NotFoundError(message)
    return found[0]
