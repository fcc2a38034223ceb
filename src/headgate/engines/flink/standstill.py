"""
How large a job's state is, and for how long the job stood still before it ran as it does now.

The `timestamps` of `/jobs/:id` do not tell: a job that is rescaled in place begins a new graph, whose CREATED is when
the old tasks were gone already, and whose RUNNING is when the first of the new ones was deployed, before any state was
loaded. So the end is when the last subtask ran (`subtasktimes`). The beginning is when the checkpoint was complete from
which the job went on, as the scheduler rescales at that moment, or the last look at the whole job, if that was later;
of a job that was submitted anew it is when the one before it began its savepoint to stop with, for it does no work
while that is written, or without one when it ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zlib import crc32

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.details import JobDetails
from headgate.engines.flink.memory import JobMemory
from headgate.engines.flink.numbers import number
from headgate.engines.flink.overview import ListedJob, read_jobs
from headgate.engines.flink.shared import Shared, together
from headgate.errors import HeadgateError
from headgate.model.measures import JobMeasure
from headgate.ports import JobContext

_EVERY = timedelta(minutes=1)
"""How often a job's checkpoints are asked about; the jobs of a fleet at different ticks."""

_YOUNG_MS = 5 * 60 * 1000
"""How long ago a job's start may be to be looked into when the job is seen first: not so for a whole old fleet."""


_CACHED_MS = 5_000
"""How much older a look at a job may be than it says: Flink shows jobs as they were up to 3 s ago."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """What a job's checkpoints say."""

    state_bytes: float | None
    """Size of the last completed one; None before the first."""
    restored_ms: int | None
    """When the one was complete from which the job went on last; None unless the job took it itself, lately."""
    inherited: bool
    """Whether the job goes on from a savepoint, or from a checkpoint before it took any itself."""


def read_checkpoints(answer: Any) -> Checkpoints:
    """Read `/jobs/:id/checkpoints`."""
    latest = answer["latest"]
    completed, restored = latest.get("completed"), latest.get("restored")
    own = [*answer.get("history", ()), *([completed] if completed else ())]
    acknowledged = {each["id"]: int(each["latest_ack_timestamp"]) for each in own if each["status"] == "COMPLETED"}
    from_savepoint = bool(restored) and restored["is_savepoint"]
    return Checkpoints(
        state_bytes=number(completed["state_size"]) if completed else None,
        restored_ms=acknowledged.get(restored["id"]) if restored and not from_savepoint else None,
        inherited=from_savepoint or (bool(restored) and not acknowledged),
    )


def read_stop(answer: Any) -> int | None:
    """Read of the same when a job began to stop with a savepoint, epoch milliseconds; None where it did not."""
    savepoint = answer["latest"].get("savepoint")
    stopped_with = savepoint is not None and savepoint["checkpoint_type"] == "SYNC_SAVEPOINT"
    return int(savepoint["trigger_timestamp"]) if stopped_with else None


def read_last_start(answer: Any) -> int:
    """Read of `/jobs/:id/vertices/:id/subtasktimes` when the last subtask began to run, epoch milliseconds."""
    return max(int(subtask["timestamps"]["RUNNING"]) for subtask in answer["subtasks"])


class Standstills:
    """Measures the jobs of one cluster: a call a job and minute, and after a restart one for each vertex."""

    def __init__(self, client: FlinkClient) -> None:
        """Ask nothing yet."""
        self._client = client
        self._jobs: Shared[tuple[ListedJob, ...]] = Shared(lambda: client.get("/jobs/overview", read_jobs))

    async def measure(
        self, ctx: JobContext, memory: JobMemory, details: JobDetails, at: datetime
    ) -> Mapping[JobMeasure, float]:
        """Give the state's size and the latest standstill, as far as they are known; a failure is no error."""
        if not ctx.options.downtime_model_enabled:
            return {}
        started = _has_started(memory, details)
        told = await self._ask(memory, at) if started or _is_due(memory, at) else None
        if started:
            began_ms = await self._end_of_run_before(ctx, memory, told, at)
            memory.downtime_s = None if began_ms is None else await self._since(began_ms, ctx, details)
        if _is_whole(details):
            memory.whole_run_ms, memory.whole_at_ms = details.running_since_ms, details.now_ms
        known = {JobMeasure.STATE_SIZE: memory.state_bytes, JobMeasure.LAST_DOWNTIME: memory.downtime_s}
        return {measure: value for measure, value in known.items() if value is not None}

    async def _ask(self, memory: JobMemory, at: datetime) -> Checkpoints | None:
        memory.checkpoints_due = at + _EVERY
        try:
            told = await self._client.get(f"/jobs/{memory.job_id}/checkpoints", read_checkpoints)
        except HeadgateError:
            return None
        memory.state_bytes = memory.state_bytes if told.state_bytes is None else told.state_bytes
        return told

    async def _end_of_run_before(
        self, ctx: JobContext, memory: JobMemory, told: Checkpoints | None, at: datetime
    ) -> int | None:
        if told is None:
            return None
        if told.restored_ms is not None:
            return max(told.restored_ms, (memory.whole_at_ms or 0) - _CACHED_MS)
        return await self._end_of_job_before(ctx, at) if told.inherited else None

    async def _end_of_job_before(self, ctx: JobContext, at: datetime) -> int | None:
        jobs = await self._jobs.get(at) or ()
        others = (job for job in jobs if job.name == ctx.key.name and job.job_id != ctx.job_id)
        ended = {job.ended_at_ms: job.job_id for job in others if job.ended_at_ms is not None}
        if not ended:
            return None
        end_ms = max(ended)
        try:
            return await self._client.get(f"/jobs/{ended[end_ms]}/checkpoints", read_stop) or end_ms
        except HeadgateError:
            return end_ms

    async def _since(self, began_ms: int, ctx: JobContext, details: JobDetails) -> float | None:
        """Give the seconds until the last subtask ran."""
        vertices = (f"/jobs/{ctx.job_id}/vertices/{each.id}" for each in details.vertices if not each.finished)
        try:
            starts = await together(self._client.get(f"{each}/subtasktimes", read_last_start) for each in vertices)
        except HeadgateError:
            return None
        took_ms = max(starts) - began_ms
        return took_ms / 1000 if took_ms >= 0 else None


def _is_whole(details: JobDetails) -> bool:
    return all(vertex.all_running or vertex.finished for vertex in details.vertices)


def _has_started(memory: JobMemory, details: JobDetails) -> bool:
    """Tell whether the job is seen whole for the first time in this run; of a job not seen before, in a young one."""
    if not _is_whole(details) or all(vertex.finished for vertex in details.vertices):
        return False
    if memory.whole_run_ms is None:
        return details.now_ms - details.running_since_ms < _YOUNG_MS
    return memory.whole_run_ms != details.running_since_ms


def _is_due(memory: JobMemory, at: datetime) -> bool:
    """Tell whether the checkpoints are to be asked about: never of a job that takes none."""
    if memory.checkpoint_interval_s is None:
        return False
    if memory.checkpoints_due is None:
        memory.checkpoints_due = at + _EVERY * (crc32(memory.job_id.encode()) / 2**32)
    return at >= memory.checkpoints_due
