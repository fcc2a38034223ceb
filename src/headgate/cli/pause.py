"""`headgate pause` and `headgate resume`: the kill switch."""

from __future__ import annotations

from dataclasses import replace

from headgate.cli import console
from headgate.cli.orders import DEFAULT, All, Config, Force, Job, Json, Why, given, opened_desk, pauses, show


def pause(
    job: Job = None,
    config: Config = DEFAULT,
    *,
    every: All = False,
    why: Why = "",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """
    Change nothing of a job any more, or of any: no rescale, no automatic rollback, no worker.

    It goes on being observed and evaluated, and what is half done is finished. It works from any machine that reaches
    the state store, with the next cycle of whatever process looks after the job, and holds over restarts until
    `headgate resume`. `headgate rollback` goes over it.
    """
    with console.failures(), opened_desk(job, config, every=every, force=force) as desk:
        order = given(why)
        orders = desk.give(lambda before: replace(before, pause=order))
        show(orders, desk.job, pauses(orders, desk.job), as_json=as_json)


def resume(
    job: Job = None, config: Config = DEFAULT, *, every: All = False, force: Force = False, as_json: Json = False
) -> None:
    """
    Take a pause back: that of one job, or the one of all jobs.

    A job that was paused by its name stays so when all are resumed, and the other way round; what still holds is shown.
    """
    with console.failures(), opened_desk(job, config, every=every, force=force) as desk:
        orders = desk.give(lambda before: replace(before, pause=None))
        show(orders, desk.job, pauses(orders, desk.job), as_json=as_json)
