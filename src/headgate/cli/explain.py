"""`headgate explain`: why the last cycle did or did not change a job."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from headgate.algorithm.explain import explain as explanation
from headgate.cli import console
from headgate.cli.stores import opened_store
from headgate.config import load
from headgate.control.recollection import orders_held, recollection
from headgate.errors import HeadgateError, NotFoundError
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.printable import printable
from headgate.options.service import ServiceOptions
from headgate.overview.finding import find_job, known_jobs
from headgate.overview.naming import vertex_names
from headgate.samplelog.files import root_of
from headgate.samplelog.reader import LogReader
from headgate.samplelog.rows import decision_json
from headgate.stores.opening import MEMORY


def explain(
    job: Annotated[str, typer.Argument(help="`cluster/job`, or the job's name where only one cluster has it.")],
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    *,
    json: Annotated[bool, typer.Option("--json", help="The whole decision as JSON.")] = False,
) -> None:
    """
    Show step by step, with the numbers, how the last decision for a job came about.

    Then what people have ordered for it, and what is remembered of its last rescales: what is under observation, and
    what was taken back and why.
    """
    with console.failures():
        options = load(config, os.environ, {}).options
        reader = LogReader(root_of(options.log))
        decision = _decided(job, reader, options)
    if json:
        typer.echo(decision_json(decision))
        return
    for line in explanation(decision):
        typer.echo(printable(line))
    for line in _remembered(decision.job, reader, options):
        typer.echo(f"  {printable(line)}")


def _remembered(job: JobKey, reader: LogReader, options: ServiceOptions) -> tuple[str, ...]:
    """Tell what the state store remembers of the job's last rescales; what cannot be asked spoils nothing."""
    if options.state_store == MEMORY:
        return ()
    try:
        with opened_store(options) as store:
            state, orders = store.load(job).state, store.orders().orders_of(job)
        graph = reader.latest_topology(job)
    except HeadgateError as error:
        console.note(f"what is remembered of the job's last rescales is not known: {error}")
        return ()
    names = {vertex.id: vertex.name for vertex in graph.vertices} if graph else vertex_names(reader, job, state)
    return (*orders_held(orders), *recollection(state, names, datetime.now(UTC)))


def _decided(text: str, reader: LogReader, options: ServiceOptions) -> Decision:
    """Give the latest decision for a job; that of a key written in full may be as old as the log."""
    decision = reader.latest_decision(JobKey.parse(text)) if "/" in text else None
    if decision is None:
        decision = reader.latest_decision(find_job(text, known_jobs(options, datetime.now(UTC))))
    if decision is None:
        message = f"the samples log at {options.log.told} knows no decision for {text!r} any more"
        raise NotFoundError(message)
    return decision
