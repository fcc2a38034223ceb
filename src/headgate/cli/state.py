"""`headgate state`: look into the state store, forget jobs, bring it up to date, fill it from the reference's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headgate.algorithm.wording import moment
from headgate.cli import console
from headgate.cli.stores import opened_store, resolved
from headgate.config import load
from headgate.errors import ConfigError, NotFoundError, PermanentError
from headgate.model.identity import JobKey
from headgate.model.printable import printable
from headgate.options.units import parse_duration
from headgate.stores.codec import encode_state
from headgate.stores.reference_import import Taken, read_reference, take_over
from headgate.stores.sql import SqlStateStore

app = typer.Typer(help="Look into the state store, and fill it.", no_args_is_help=True)

_Config = Annotated[Path, typer.Option("--config", "-c", help="The service's file.")]
_DEFAULT = Path("headgate.yaml")


@app.command("migrate")
def migrate(config: _Config = _DEFAULT) -> None:
    """Bring the database to the tables of this version; `headgate run` does so too when it starts."""
    with console.failures(), _store(config) as store:
        typer.echo("brought up to date" if store.migrate() else "up to date already")


@app.command("show")
def show(job: Annotated[str, typer.Argument(help="`cluster/job`.")], config: _Config = _DEFAULT) -> None:
    """Print what is remembered of a job, as JSON."""
    with console.failures(), _store(config) as store:
        held = store.load(_key(job))
        if held.version == 0:
            message = f"the state store knows no job {job!r}"
            raise NotFoundError(message)
    typer.echo(encode_state(held.state))


@app.command("list")
def list_(config: _Config = _DEFAULT) -> None:
    """List the jobs of which a state is kept: those that are known to be gone with since when, and what holds them."""
    with console.failures(), _store(config) as store:
        kept, used = store.kept(), _used(store)
    for job, since in sorted(kept.items()):
        gone = [f"gone since {moment(since)}"] if since else []
        typer.echo(printable("  ".join([str(job), *gone, *used.get(job, ())])))


@app.command("forget")
def forget(
    jobs: Annotated[list[str] | None, typer.Argument(help="`cluster/job`, as often as needed.")] = None,
    config: _Config = _DEFAULT,
    *,
    gone_for: Annotated[
        str | None, typer.Option(help="Those that are gone for so long, of all jobs or those named.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Also a job that has a change under way, or orders.")] = False,
) -> None:
    """
    Remove state and history of jobs that will not come back; their orders stay.

    The service does so by itself with jobs that its clusters have not listed for `state.retention`. Never without
    --force: jobs with a change under way, events that wait, or orders.
    """
    with console.failures(), _store(config) as store:
        if not jobs and gone_for is None:
            raise ConfigError(["command line: name jobs, or give --gone-for"])
        before = None if gone_for is None else _ago(gone_for)
        kept, used = store.kept(), _used(store)
        asked, stays = [_key(text) for text in jobs or ()], []
        for job in asked or sorted(kept):
            since = kept.get(job)
            if store.forget(job, gone_before=before, unused=not force):
                typer.echo(printable(f"{job} is forgotten"))
            elif asked or (since and before and since < before):
                otherwise = "is not gone for so long" if job in kept else "is not known"
                stays.append(f"{job} stays: {', '.join(used.get(job, [otherwise]))}")
        if stays:
            raise PermanentError("\n".join(stays))


@app.command("import")
def import_(
    source: Annotated[str, typer.Option("--from", help="URL of the reference's database; may be ${env:NAME}.")],
    config: _Config = _DEFAULT,
    *,
    job: Annotated[
        list[str] | None, typer.Option(help="JOBID=CLUSTER/NAME: which job a job id is. As often as needed.")
    ] = None,
    jobs: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A file with one such line for each job.")
    ] = None,
) -> None:
    """
    Take over the history that flink-autoscaler's JDBC plugin has kept, for the jobs that are named.

    The reference knows a job by its job id, Headgate by cluster and name. Run it without --job first: it lists the ids
    that it finds. It can be repeated; nothing is taken twice, nothing is overwritten.
    """
    with console.failures(), _store(config) as store:
        lines = [*(jobs.read_text().splitlines() if jobs else ()), *(job or ())]
        rows = read_reference(resolved("--from", source).removeprefix("jdbc:"))
        for found in take_over(rows, names_in(lines), store):
            _tell(found)


def names_in(lines: Sequence[str]) -> Mapping[str, JobKey]:
    """
    Read lines like `JOBID=CLUSTER/NAME`; empty ones and comments are passed over.

    Raises:
        ConfigError: every line that reads otherwise.
    """
    names, faults = {}, []
    for line in lines:
        job_id, equals, key = (part.strip() for part in line.partition("="))
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not job_id or not equals or "/" not in key:
            faults.append(f"--job: {line!r} names no job. Hint: write JOBID=CLUSTER/NAME")
            continue
        names[job_id] = JobKey.parse(key)
    if faults:
        raise ConfigError(faults)
    return names


def _tell(found: Taken) -> None:
    typer.echo(f"{found.job_id} -> {found.job or '?'}")
    for what in found.taken:
        typer.echo(f"  taken: {what}")
    for what in found.left:
        typer.echo(f"  left:  {what}")
    if found.job is None:
        console.err.print(escape(f"Hint: --job '{found.job_id}=CLUSTER/NAME'"))


def _used(store: SqlStateStore) -> Mapping[JobKey, Sequence[str]]:
    """Say of each job that is in use why it is not forgotten."""
    flying, ordered = frozenset(store.in_flight()), store.orders().jobs
    reasons = {"has a change under way or events that wait": flying, "has orders": frozenset(ordered)}
    return {job: [why for why, jobs in reasons.items() if job in jobs] for job in flying | ordered.keys()}


def _ago(text: str) -> datetime:
    try:
        return datetime.now(UTC) - parse_duration(text)
    except (ValueError, OverflowError) as error:
        raise ConfigError([f"--gone-for: {error}"]) from error


def _key(text: str) -> JobKey:
    try:
        return JobKey.parse(text)
    except ValueError as error:
        raise ConfigError([str(error)]) from error


@contextmanager
def _store(config: Path) -> Iterator[SqlStateStore]:
    with opened_store(load(config, os.environ, {}).options) as store:
        yield store
