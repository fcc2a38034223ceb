"""
Finds over REST whether a job and its cluster are fit for reactive mode, and the waits that their scheduler keeps.

What a Flink does not tell stays unknown. It looks only; what the facts mean is `algorithm.suitability`'s to say.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from headgate.algorithm.suitability import Facts
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import read_jobs
from headgate.engines.flink.realizer import read_requirements, upper_bounds
from headgate.engines.flink.settings import Config, read_checkpoint_interval, read_config
from headgate.engines.flink.waits import Wait, waits
from headgate.errors import HeadgateError, NotFoundError
from headgate.ports import JobContext

T = TypeVar("T")

_KEEPS_RATIOS = "proportional"
"""The policy for which a hand-set parallelism is what counts."""
_EMBEDDED = "embedded"
"""What `execution.target` is set to where the program runs in the JobManager itself."""
_SHARES = ("cpuCores", "taskHeapMemory")
_ENOUGH = 32
"""Workers that are asked: more would take too long, and the slots of a job are alike on most of them."""
_ROUNDING = 0.05
"""Flink tells memory in whole MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What a look at one job found."""

    job: JobContext
    facts: Facts
    waits: tuple[Wait, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What `/jobs/:id` tells."""

    streaming: bool | None
    adaptive: bool | None
    bounds: Mapping[str, int]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checkpoints:
    periodic: bool
    unaligned: bool | None = None


async def inspect(client: FlinkClient, ctx: JobContext) -> Inspection:
    """
    Look at a job; it takes a dozen calls, and one more for each of some workers.

    Raises:
        HeadgateError: the job itself cannot be asked about.
    """
    path = f"/jobs/{ctx.job_id}"
    job = await client.get(path, _read_job)
    config, told, checkpoints, jobs, fine_grained, hand_set = await asyncio.gather(
        _tried(client, "/jobmanager/config", read_config),
        _tried(client, f"{path}/rescales/config", dict),
        _checkpoints(client, path),
        _tried(client, "/jobs/overview", _count_jobs),
        _is_fine_grained(client, ctx.job_id),
        _hand_set(client, path, job),
    )
    reactive = None if config is None else config.get("scheduler-mode", "").lower() == "reactive"
    facts = Facts(
        streaming=job.streaming,
        adaptive=_is_adaptive(job, config),
        checkpoints=checkpoints.periodic if checkpoints else None,
        unaligned=checkpoints.unaligned if checkpoints else None,
        fine_grained=fine_grained,
        hand_set=_counting(hand_set, ctx, reactive=reactive),
        bounds=job.bounds,
        min_parallelism=ctx.options.reactive.min_parallelism,
        reactive=reactive,
        application=None if config is None else config.get("execution.target") == _EMBEDDED,
        jobs=jobs,
    )
    return Inspection(job=ctx, facts=facts, waits=waits(config, told))


async def _tried(client: FlinkClient, path: str, read: Callable[[Any], T]) -> T | None:
    try:
        return await client.get(path, read)
    except HeadgateError:
        return None


def _read_job(answer: Any) -> _Job:
    scheduler, kind, vertices = answer.get("schedulerType"), answer.get("job-type"), answer["vertices"]
    return _Job(
        streaming=None if kind is None else kind.upper() == "STREAMING",
        adaptive=None if scheduler is None else scheduler.lower() == "adaptive",
        bounds={vertex["name"]: int(vertex["maxParallelism"]) for vertex in vertices},
        names={vertex["id"]: vertex["name"] for vertex in vertices},
    )


def _is_adaptive(job: _Job, config: Config | None) -> bool | None:
    if job.adaptive is not None or config is None:
        return job.adaptive
    return config.get("jobmanager.scheduler", "default").lower() == "adaptive"


async def _checkpoints(client: FlinkClient, path: str) -> _Checkpoints | None:
    try:
        return await client.get(f"{path}/checkpoints/config", _read_checkpoints)
    except NotFoundError:
        return _Checkpoints(periodic=False)  # Flink's way to say that they are off
    except HeadgateError:
        return None


def _read_checkpoints(answer: Any) -> _Checkpoints:
    return _Checkpoints(
        periodic=read_checkpoint_interval(answer) is not None, unaligned=answer.get("unaligned_checkpoints")
    )


def _count_jobs(answer: Any) -> int:
    return sum(not job.status.is_over for job in read_jobs(answer))


async def _is_fine_grained(client: FlinkClient, job_id: str) -> bool | None:
    """Compare the slots that the job has on workers, on some where there are many, with equal parts of them."""
    workers = await _tried(client, "/taskmanagers", _busy_workers)
    read: Callable[[Any], list[bool]] = lambda answer: _cut_slots(answer, job_id)  # noqa: E731 -- bound to the job
    looks = await asyncio.gather(
        *(_tried(client, f"/taskmanagers/{worker}", read) for worker in (workers or ())[:_ENOUGH])
    )
    slots = [cut for look in looks if look is not None for cut in look]
    return any(slots) if slots else None


def _busy_workers(answer: Any) -> list[str]:
    return [each["id"] for each in answer["taskmanagers"] if each.get("freeSlots") != each.get("slotsNumber", -1)]


def _cut_slots(worker: Any, job_id: str) -> list[bool]:
    whole, count = worker["totalResource"], int(worker["slotsNumber"])
    return [_is_cut(slot["resource"], whole, count) for slot in worker["allocatedSlots"] if slot["jobId"] == job_id]


def _is_cut(slot: Mapping[str, float], whole: Mapping[str, float], count: int) -> bool:
    return any(not math.isclose(slot[share] * count, whole[share], rel_tol=_ROUNDING) for share in _SHARES)


def _counting(hand_set: tuple[str, ...] | None, ctx: JobContext, *, reactive: bool | None) -> tuple[str, ...] | None:
    """Leave out a parallelism that is to be kept in proportion; Flink's own reactive mode hides what was submitted."""
    if ctx.options.reactive.policy == _KEEPS_RATIOS:
        return ()
    return None if reactive else hand_set


async def _hand_set(client: FlinkClient, path: str, job: _Job) -> tuple[str, ...] | None:
    """
    Name the vertices that were submitted with another parallelism than the job's own.

    Flink tells what each may have now, which is what it was submitted with as long as nobody has changed it.
    """
    asked = await _tried(
        client, f"{path}/resource-requirements", lambda answer: upper_bounds(read_requirements(answer))
    )
    whole = await _tried(client, f"{path}/config", lambda answer: int(answer["execution-config"]["job-parallelism"]))
    if asked is None or whole is None:
        return None
    others = tuple(job.names[vertex] for vertex, bound in asked.items() if bound != whole)
    if not others or await _tried(client, f"{path}/rescales/history", _is_as_submitted):
        return others
    return None


def _is_as_submitted(history: Any) -> bool:
    """Tell whether a job's history of rescales, kept where it is not empty, begins and ends without other wishes."""
    causes = {each["triggerCause"] for each in history}
    return "INITIAL_SCHEDULE" in causes and "UPDATE_REQUIREMENT" not in causes
