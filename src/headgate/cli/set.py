"""`headgate set`: other options for a job, at once and without its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import typer

from headgate.cli import console
from headgate.cli.orders import DEFAULT, All, Config, Force, Json, given, opened_desk, options_set, show
from headgate.config.ordered import confirm, full_key
from headgate.errors import ConfigError
from headgate.model.orders import Given, Orders

_Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOB] OPTION=VALUE",
        help="The job, unless --all is given, then the options; `job.autoscaler.` need not be written.",
    ),
]
_Unset = Annotated[list[str] | None, typer.Option(metavar="OPTION", help="Let the file's value hold again.")]
_Show = Annotated[bool, typer.Option("--show", help="Only show what is set.")]


def set_options(
    words: _Words = None,
    config: Config = DEFAULT,
    *,
    every: All = False,
    unset: _Unset = None,
    only_show: _Show = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """
    Set options of a job, or of all jobs, over the service's file and the job's own configuration.

    They are checked like those of a file, all faults are told at once, and then nothing is set. They hold from the next
    cycle on, over restarts, until --unset; those of one job over those of all. Everything that holds is shown.
    """
    with console.failures():
        job, settings = _split(words or [], every=every)
        if not only_show and not settings and not unset:
            raise ConfigError(["command line: nothing to set. Hint: JOB OPTION=VALUE, --unset OPTION, or --show"])
        wanted, left = _wanted(settings), {_known(key) for key in unset or ()}
        with opened_desk(job, config, every=every, force=force) as desk:
            orders = desk.store.orders()
            if not only_show:
                fleet, by = orders.fleet.options if desk.job else {}, given()

                def change(before: Orders) -> Orders:
                    changed = _changed(before, wanted, left, by)
                    confirm(desk.options, desk.job, {**fleet, **changed.options})
                    return changed

                orders = desk.give(change)
            show(orders, desk.job, options_set(orders, desk.job), as_json=as_json)


def _split(words: Sequence[str], *, every: bool) -> tuple[str | None, Sequence[str]]:
    """Tell the job from the settings."""
    return (None, words) if every or not words else (words[0], words[1:])


def _known(key: str) -> str:
    """Give an option's full key; one that an upgrade has removed can be unset by the key that is shown."""
    try:
        return full_key(key)
    except ConfigError:
        return key


def _wanted(settings: Sequence[str]) -> Mapping[str, str]:
    """
    Read the settings.

    Raises:
        ConfigError: every one that is none, or that sets no option of jobs.
    """
    wanted, faults = dict[str, str](), list[str]()
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            faults.append(f"command line: {setting!r} sets nothing. Hint: write OPTION=VALUE")
            continue
        try:
            wanted[full_key(name.strip())] = value.strip()
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(faults)
    return wanted


def _changed(orders: Orders, wanted: Mapping[str, str], unset: set[str], by: Given) -> Orders:
    options = {key: text for key, text in {**orders.options, **wanted}.items() if key not in unset}
    givers = {**orders.given, **dict.fromkeys(wanted, by)}
    return replace(orders, options=options, given={key: one for key, one in givers.items() if key in options})
