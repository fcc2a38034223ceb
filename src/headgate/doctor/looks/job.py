"""Looks at one Flink job over REST; one that ends meanwhile, or tells only a part, is no error."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from headgate.algorithm.suitability import Facts as Suitability
from headgate.config.launches import launch_of
from headgate.doctor.facts import CheckpointFacts, Clock, JobFacts, SourceFacts
from headgate.doctor.looks.source import look_at_source
from headgate.engines.flink.checkpoints import read_completed
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.details import JobDetails, read_details
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.settings import Config, read_checkpoint_interval, settings_of
from headgate.engines.flink.suitability import inspect
from headgate.engines.flink.workers import TaskManagerSize
from headgate.errors import HeadgateError, NotFoundError
from headgate.options.reactive import ExecutionMode
from headgate.options.service import ServiceOptions
from headgate.ports import EndOffsets, JobContext

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a cluster's jobs have in common."""

    config: Config | None
    size: TaskManagerSize | None
    offsets: EndOffsets


async def tried(client: FlinkClient, path: str, read: Callable[[Any], T]) -> T | None:
    """Ask, and take no answer for an answer."""
    try:
        return await client.get(path, read)
    except HeadgateError:
        return None


async def look_at_job(client: FlinkClient, ctx: JobContext, standing: Standing, options: ServiceOptions) -> JobFacts:
    """Look at one job; it takes up to five calls, two or three more for each source, a dozen more in reactive mode."""
    launch = launch_of(options, ctx.key) is not None
    asked_s = time.time()
    try:
        details = await client.get(f"/jobs/{ctx.job_id}", read_details)
    except HeadgateError as error:
        return JobFacts(job=ctx, launch=launch, gone=str(error))
    clock = _clock(details, asked_s, time.time())
    checkpoints, suitability, sources = await asyncio.gather(
        look_at_checkpoints(client, ctx), _suitability(client, ctx), _sources(client, ctx, details, standing.offsets)
    )
    interval_s = checkpoints.interval_s if checkpoints else None
    return JobFacts(
        job=ctx,
        launch=launch,
        now=instant(details.now_ms),
        running_since=instant(details.running_since_ms) if details.running_since_ms > 0 else None,
        clock=clock,
        settings=settings_of(standing.config, interval_s, adaptive=details.adaptive, size=standing.size),
        graph=details.graph,
        without_busy_time=_without_busy_time(details),
        sources=tuple(source for _, source in sources if source),
        unread=tuple(name for name, source in sources if source is None),
        checkpoints=checkpoints,
        suitability=suitability,
    )


def _clock(details: JobDetails, asked_s: float, answered_s: float) -> Clock:
    """Compare clocks: the answer was given at some time between question and answer, most likely in the middle."""
    doubt = timedelta(seconds=max(0.0, answered_s - asked_s) / 2)
    middle = datetime.fromtimestamp(asked_s, UTC) + doubt
    return Clock(ahead=instant(details.now_ms) - middle, doubt=doubt)


def _without_busy_time(details: JobDetails) -> tuple[str, ...]:
    silent = {each.id for each in details.vertices if each.counters and each.counters.busy_ms is None}
    return tuple(vertex.name for vertex in details.graph if vertex.id in silent and not vertex.finished)


async def _sources(
    client: FlinkClient, ctx: JobContext, details: JobDetails, offsets: EndOffsets
) -> Sequence[tuple[str, SourceFacts | None]]:
    running = [vertex for vertex in details.graph if vertex.id in details.sources and not vertex.finished]
    looks = (look_at_source(client, ctx, vertex, offsets) for vertex in running)
    return list(zip((vertex.name for vertex in running), await asyncio.gather(*looks), strict=True))


async def _suitability(client: FlinkClient, ctx: JobContext) -> Suitability | None:
    if ctx.options.execution_mode is not ExecutionMode.REACTIVE:
        return None
    try:
        return (await inspect(client, ctx)).facts
    except HeadgateError:
        return None


async def look_at_checkpoints(client: FlinkClient, ctx: JobContext) -> CheckpointFacts | None:
    """Look at a job's checkpoints; None where nothing is told of them."""
    path = f"/jobs/{ctx.job_id}/checkpoints"
    try:
        interval_s = await client.get(f"{path}/config", read_checkpoint_interval)
    except NotFoundError:
        # Flink's way to say that they are off, unless the job is gone meanwhile.
        there = await tried(client, f"/jobs/{ctx.job_id}", read_details)
        return CheckpointFacts(interval_s=None) if there else None
    except HeadgateError:
        return None
    counted = await tried(client, path, lambda answer: _read_counts(answer, interval_s))
    return counted or CheckpointFacts(interval_s=interval_s)


def _read_counts(answer: Any, interval_s: float | None) -> CheckpointFacts:
    counts = answer["counts"]
    return CheckpointFacts(
        interval_s=interval_s,
        completed=int(counts["completed"]),
        failed=int(counts["failed"]),
        last_at=read_completed(answer),
    )
