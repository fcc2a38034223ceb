"""Giving orders from the command line: for which jobs, by whom, and what holds afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from headgate.cli.stores import opened_store
from headgate.config import load
from headgate.control.orders import whoever
from headgate.control.recollection import set_by
from headgate.errors import ConfigError, NotFoundError
from headgate.model.identity import JobKey
from headgate.model.orders import Given, Orders, StandingOrders
from headgate.model.printable import printable
from headgate.options.service import ServiceOptions
from headgate.overview.finding import find_job, known_jobs
from headgate.ports import StateStore
from headgate.stores.codec import encode_orders

Job = Annotated[str | None, typer.Argument(help="`cluster/job`, or the job's name where only one cluster has it.")]
All = Annotated[bool, typer.Option("--all", help="Every job, also those that come later.")]
Why = Annotated[str, typer.Option(help="What people should know of it; it stands in every event and explanation.")]
Force = Annotated[bool, typer.Option("--force", help="Take the key `cluster/job`, although nobody knows such a job.")]
Json = Annotated[bool, typer.Option("--json", help="What holds now, as JSON.")]
Config = Annotated[Path, typer.Option("--config", "-c", help="The service's file.")]
DEFAULT = Path("headgate.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDesk:
    """Where orders for one job, or with None for all, are given."""

    options: ServiceOptions
    store: StateStore
    job: JobKey | None

    @property
    def whom(self) -> str:
        """Name the job, or all."""
        return "all jobs" if self.job is None else str(self.job)

    def give(self, change: Callable[[Orders], Orders]) -> StandingOrders:
        """Change the orders, and give all that hold now."""
        self.store.change_orders(self.job, change)
        return self.store.orders()


def given(why: str = "") -> Given:
    """Give who orders, now."""
    return Given(at=datetime.now(UTC), by=whoever(), why=why)


@contextmanager
def opened_desk(job: str | None, config: Path, *, every: bool = False, force: bool = False) -> Iterator[OrderDesk]:
    """
    Open the service's store to order something.

    Args:
        job: as it was typed; None only for all.
        config: the service's file.
        every: for all jobs.
        force: take a key that nobody knows.

    Raises:
        ConfigError: neither a job nor all, or both; or the store keeps nothing between two processes.
        NotFoundError: there is no such job.
    """
    if (job is None) != every:
        raise ConfigError(["command line: name a job, or give --all, and not both"])
    options = load(config, os.environ, {}).options
    with opened_store(options) as store:
        yield OrderDesk(options=options, store=store, job=_found(job, options, store, force=force) if job else None)


def show(orders: StandingOrders, job: JobKey | None, lines: Sequence[str], *, as_json: bool) -> None:
    """Say what holds now: as lines for people, or all of it for machines."""
    if as_json:
        typer.echo(encode_orders(orders.fleet if job is None else orders.orders_of(job)))
        return
    for line in lines:
        typer.echo(printable(line))


def pauses(orders: StandingOrders, job: JobKey | None) -> Sequence[str]:
    """Say what is paused, of a job and of all."""
    told = [f"all jobs are paused by {orders.fleet.pause}"] if orders.fleet.pause else []
    if job is None:
        told += [f"{key} is paused by {one.pause}" for key, one in sorted(orders.jobs.items()) if one.pause]
    elif own := orders.orders_of(job).pause:
        told += [f"{job} is paused by {own}"] if own != orders.fleet.pause else []
    return told or [f"{job or 'no job'} is {'not ' if job else ''}paused"]


def options_set(orders: StandingOrders, job: JobKey | None) -> Sequence[str]:
    """Say which options are set, and by whom."""
    held = orders.fleet if job is None else orders.orders_of(job)
    told = [f"{key}={text}  ({set_by(held, key)})" for key, text in sorted(held.options.items())]
    return told or [f"no option is set for {job or 'all jobs'}"]


def _found(text: str, options: ServiceOptions, store: StateStore, *, force: bool) -> JobKey:
    """
    Find the job that is meant; those that the store remembers are known too, wherever the log is.

    By a bare name the job of another cluster, of which nothing was heard for a day, might be meant as well.
    """
    try:
        if force or ("/" in text and store.load(JobKey.parse(text)).version):
            return JobKey.parse(text)
        return find_job(text, {*known_jobs(options, datetime.now(UTC), store=store), *store.states()})
    except ValueError as error:
        raise ConfigError([str(error)]) from error
    except NotFoundError as error:
        message = f"{error} Where the samples log is not at hand, --force takes any cluster/job"
        raise NotFoundError(message) from error
