"""`headgate submit`: start a job from its launch spec, and remember the spec, so that it can be redeployed."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from headgate.cli import console
from headgate.config import load
from headgate.config.launches import launch_of
from headgate.config.secrets import resolve
from headgate.engines.flink.redeploy.submission import submit_job
from headgate.errors import ConfigError, ConflictError
from headgate.model.identity import JobKey
from headgate.model.redeploy import Launch, Overlay, Start
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.ports import StateStore
from headgate.stores.opening import open_store

_ATTEMPTS = 5


def submit(
    job: Annotated[str, typer.Argument(help="`cluster/job`, with the name that the program gives its job.")],
    jar: Annotated[str | None, typer.Option(help="A local file, or the name of a jar that the cluster has.")] = None,
    *,
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    entry_class: Annotated[str | None, typer.Option(help="Class whose `main` builds the job.")] = None,
    arg: Annotated[list[str] | None, typer.Option(help="An argument of that `main`; may be repeated.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="Flink configuration, `key=value`.")] = None,
    parallelism: Annotated[int | None, typer.Option(min=1, help="Of the whole job.")] = None,
    savepoint: Annotated[str | None, typer.Option(help="Savepoint or checkpoint to start from.")] = None,
) -> None:
    """
    Start a job on a cluster of the service's file, and remember what it was started from.

    Without --jar the job's `launch` in the service's file is used. What is given here is remembered in the state
    store, secrets only as the references `${env:NAME}` or `${file:PATH}`.
    """
    with console.failures():
        options = load(config, os.environ, {}).options
        key = JobKey.parse(job) if "/" in job else _refuse(f"{job!r} is no job key. Hint: write cluster/job")
        launch = launch_of(options, key)
        if jar is not None:
            launch = Launch(
                jar=jar,
                entry_class=entry_class,
                args=tuple(arg or ()),
                configuration=dict(_pair(text) for text in set_ or ()),
                parallelism=parallelism,
            )
        if launch is None:
            _refuse(f"{key} has no launch spec. Hint: give --jar, or write `launch.jar` into its entry of jobs")
        job_id = asyncio.run(_submit(options, key, launch, savepoint))
    typer.echo(job_id)


async def _submit(options: ServiceOptions, key: JobKey, launch: Launch, savepoint: str | None) -> str:
    store = open_store(resolve(options.state_store))
    try:
        held = await asyncio.to_thread(store.load, key)
        overlay = held.state.overlay.then(held.state.deferred.overrides, held.state.deferred.removals)
        start = Start(parallelism=launch.parallelism, overlay=overlay)
        job_id = await submit_job(_cluster(options, key), key, launch, start, savepoint=savepoint)
        await asyncio.to_thread(_remember, store, key, launch, overlay)
    finally:
        store.close()
    return job_id


def _remember(store: StateStore, key: JobKey, launch: Launch, overlay: Overlay) -> None:
    for _ in range(_ATTEMPTS):
        held = store.load(key)
        state = replace(held.state, launch=launch, overlay=overlay, deferred=Overlay(), job_wide=launch.parallelism)
        with suppress(ConflictError):  # the service has just saved what it saw of the job
            store.save(key, state, held.version)
            return
    message = f"{key} was started, but its launch spec could not be saved. Hint: write it into the service's file"
    raise ConflictError(message)


def _cluster(options: ServiceOptions, key: JobKey) -> ClusterOptions:
    found = next((cluster for cluster in options.clusters if cluster.name == key.cluster), None)
    known = ", ".join(cluster.name for cluster in options.clusters)
    return found or _refuse(f"no cluster is called {key.cluster!r}; there are: {known}")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    return (key, value) if equals else _refuse(f"--set {text!r} has no `=`. Hint: write key=value")


def _refuse(fault: str) -> NoReturn:
    raise ConfigError([fault])
