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
from headgate.errors import ConfigError, ConflictError, RefusedError
from headgate.model.identity import JobKey
from headgate.model.redeploy import Launch, Overlay, Start
from headgate.model.state import VersionedState
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
        remembered = _SavedLaunch(store, key)

        async def remember() -> None:
            await asyncio.to_thread(remembered.save, launch, overlay)

        start = Start(parallelism=launch.parallelism, overlay=overlay)
        try:
            return await submit_job(_cluster(options, key), key, launch, start, savepoint=savepoint, remember=remember)
        except RefusedError:
            await asyncio.to_thread(remembered.take_back)
            raise
    finally:
        store.close()


class _SavedLaunch:
    """What the store remembers of how a job was started."""

    def __init__(self, store: StateStore, key: JobKey) -> None:
        self._store, self._key = store, key
        self._before: VersionedState | None = None

    def save(self, launch: Launch, overlay: Overlay) -> None:
        """
        Save it, before the job is started.

        Raises:
            ConflictError: the job's state was saved by others again and again.
        """
        for _ in range(_ATTEMPTS):
            held = self._store.load(self._key)
            state = replace(held.state, launch=launch, overlay=overlay, deferred=Overlay(), job_wide=launch.parallelism)
            with suppress(ConflictError):  # the service has just saved what it saw of the job
                self._store.save(self._key, state, held.version)
                self._before = held
                return
        message = f"how {self._key} is started could not be saved, so it was not started. Hint: try again"
        raise ConflictError(message)

    def take_back(self) -> None:
        """Save what was remembered before, for a job that could not be started."""
        if self._before is not None:
            before = self._before.state
            now = self._store.load(self._key)
            state = replace(
                now.state,
                launch=before.launch,
                overlay=before.overlay,
                deferred=before.deferred,
                job_wide=before.job_wide,
            )
            with suppress(ConflictError):  # somebody else has started it meanwhile, and what they saved holds
                self._store.save(self._key, state, now.version)


def _cluster(options: ServiceOptions, key: JobKey) -> ClusterOptions:
    found = next((cluster for cluster in options.clusters if cluster.name == key.cluster), None)
    known = ", ".join(cluster.name for cluster in options.clusters)
    return found or _refuse(f"no cluster is called {key.cluster!r}; there are: {known}")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    return (key, value) if equals else _refuse(f"--set {text!r} has no `=`. Hint: write key=value")


def _refuse(fault: str) -> NoReturn:
    raise ConfigError([fault])
