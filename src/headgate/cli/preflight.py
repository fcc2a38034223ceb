"""`headgate preflight`: whether jobs are fit for reactive mode, before anything is switched on."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from headgate.algorithm.suitability import unknown, unsuitable
from headgate.cli import console
from headgate.config import load
from headgate.engines.flink.suitability import Inspection
from headgate.engines.flink.waits import Wait
from headgate.errors import NotFoundError
from headgate.options.reactive import ExecutionMode
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.ports import JobContext
from headgate.wiring.inspecting import inspect_jobs


def preflight(
    job: Annotated[
        str | None,
        typer.Argument(help="`cluster/job`, a job's name, or the REST address of a cluster; all jobs by default."),
    ] = None,
    *,
    config: Annotated[Path, typer.Option("--config", "-c", help="The service's file.")] = Path("headgate.yaml"),
    as_json: Annotated[bool, typer.Option("--json", help="What was found as a JSON list.")] = False,
) -> None:
    """
    Say at once all that stands against reactive mode. Changes nothing.

    A job in reactive mode (`execution-mode: reactive`) uses whatever workers
    there are: it grows when one is added, and shrinks when one is lost. That
    needs a streaming job with aligned checkpoints, slots that are all alike,
    and a scheduler that changes parallelism in place: either
    `jobmanager.scheduler: adaptive` on any cluster, where Headgate steers the
    job, or `scheduler-mode: reactive` on a standalone application cluster,
    where Flink does, and Headgate adds and removes the workers.

    The waits at the end are those of Flink's own scheduler, which come on top
    of Headgate's. They are set on the cluster.

    The exit status is 1 when a job is not fit, or a cluster does not answer.
    """
    with console.failures():
        options = _options(job, config)
        found = asyncio.run(inspect_jobs(options, lambda ctx: _is_wanted(ctx, job)))
        if not found:
            message = f"no job {job!r} runs there" if job else "no job runs there"
            raise NotFoundError(message)
    if as_json:
        typer.echo(json.dumps([_record(each) for each in found], indent=2))
    else:
        _show(found)
    raise typer.Exit(int(any(unsuitable(each.facts) for each in found)))


def _options(job: str | None, config: Path) -> ServiceOptions:
    if job is None or not _is_address(job):
        return load(config, os.environ, {}).options
    try:
        name: str | None = urlsplit(job).hostname
        return ServiceOptions(clusters=(ClusterOptions(name=name or "cluster", url=job),))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="JOB") from error


def _is_address(job: str) -> bool:
    return job.startswith(("http://", "https://"))


def _is_wanted(ctx: JobContext, job: str | None) -> bool:
    return job is None or _is_address(job) or job in {str(ctx.key), ctx.key.name}


def _record(found: Inspection) -> dict[str, Any]:
    against = unsuitable(found.facts)
    return {
        "job": str(found.job.key),
        "execution_mode": _mode(found),
        "fit": not against,
        "unsuitable": against,
        "unknown": unknown(found.facts),
        "waits": [{"key": wait.key, "value": wait.value, "means": wait.means} for wait in found.waits],
    }


def _mode(found: Inspection) -> ExecutionMode:
    return found.job.options.execution_mode or ExecutionMode.NONE


def _show(found: Sequence[Inspection]) -> None:
    for each in found:
        _show_job(each)
    by_cluster = {each.job.key.cluster: each.waits for each in found}
    for cluster, waits in by_cluster.items():
        console.out.print(f"\nWaits of the scheduler of [bold]{cluster}[/], which Headgate leaves to it:")
        _show_waits(waits)


def _show_job(found: Inspection) -> None:
    against, open_questions = unsuitable(found.facts), unknown(found.facts)
    verdict = "[red]not fit for reactive mode[/]" if against else "[green]fit for reactive mode[/]"
    console.out.print(f"[bold]{found.job.key}[/]: {verdict}, execution-mode is {_mode(found)}")
    for each in against:
        console.out.print(f"  - {each}", markup=False)
    for each in open_questions:
        console.out.print(f"  ? not known: {each}", markup=False)


def _show_waits(waits: Sequence[Wait]) -> None:
    width = max(len(wait.value) for wait in waits)
    for wait in waits:
        console.out.print(f"  {wait.value:>{width}}  {wait.key}\n  {'':{width}}  {wait.means}", highlight=False)
