"""`headgate rollback`: take a job's last rescale back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated

import typer

from headgate.cli import console
from headgate.cli.orders import DEFAULT, Config, Force, OrderDesk, Why, given, opened_desk
from headgate.errors import UnreachableError
from headgate.model.orders import Given
from headgate.model.printable import printable

_LOOK_S = 0.2
_Wait = Annotated[float, typer.Option(help="Seconds to wait until the order is taken up; 0: do not.", min=0)]


def rollback(
    job: Annotated[str, typer.Argument(help="`cluster/job`, or the job's name where only one cluster has it.")],
    config: Config = DEFAULT,
    *,
    why: Why = "",
    wait: _Wait = 0.0,
    force: Force = False,
) -> None:
    """
    Let the process that looks after a job take its last rescale back.

    It goes over a pause. Where the job's rescales before the last one had not proved good either, it goes back to where
    it was last well. What becomes of it is told by an event, which `headgate events` shows: also that there is nothing
    to take back, or that it may not be. An order that nobody takes up within 15 minutes is void.
    """
    with console.failures(), opened_desk(job, config, force=force) as desk:
        order = given(why)
        desk.give(lambda orders: replace(orders, rollback=order))
        typer.echo(printable(f"ordered to take the last rescale of {desk.whom} back, by {order}"))
        if wait:
            _await(desk, order, wait)


def _await(desk: OrderDesk, order: Given, patience_s: float) -> None:
    """
    Wait until the order is gone.

    Raises:
        UnreachableError: nobody has taken it up in time.
    """
    end = time.monotonic() + patience_s
    while desk.job and desk.store.orders().orders_of(desk.job).rollback == order:
        if time.monotonic() > end:
            message = f"nobody has taken the order up within {patience_s:g} s. Hint: does `headgate run` look after it?"
            raise UnreachableError(message)
        time.sleep(min(_LOOK_S, patience_s))
    typer.echo(printable(f"taken up: see `headgate explain {desk.whom}`, `headgate events`"))
