"""What a job that has ended did before: whether it ever ran, whether it was ended for being late, and why it failed."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob
from headgate.engines.flink.redeploy.answers import read_completed, read_failure, read_written
from headgate.errors import HeadgateError, NotFoundError

_SLACK = timedelta(minutes=1)
"""How long after the limit Headgate's own cancelling may have ended a job."""


async def has_run(client: FlinkClient, job: ListedJob, start_limit: timedelta) -> bool:
    """
    Tell whether going back to the savepoint would undo what the job did.

    It would not without a completed checkpoint: Flink itself would have gone back there. A job without checkpoints has
    run if it wrote anything, and lived for longer than one that does not start.

    Raises:
        UnreachableError: no answer.
    """
    with suppress(NotFoundError):  # it takes none
        if await client.get(f"/jobs/{job.job_id}/checkpoints", read_completed):
            return True
    if _lived(job) <= start_limit + _SLACK:
        return False
    with suppress(NotFoundError):
        return await client.get(f"/jobs/{job.job_id}", read_written) > 0
    return False


def was_late(job: ListedJob, start_limit: timedelta) -> bool:
    """Tell whether a job that was cancelled ended when Headgate cancels one that does not start."""
    return start_limit <= _lived(job) <= start_limit + _SLACK


async def failure(client: FlinkClient, job: ListedJob) -> str:
    """Say why a job has ended."""
    with suppress(HeadgateError):
        return await client.get(f"/jobs/{job.job_id}/exceptions", read_failure) or f"it is {job.status}"
    return f"it is {job.status}"


def _lived(job: ListedJob) -> timedelta:
    return timedelta(milliseconds=max(0, (job.ended_at_ms or job.started_at_ms) - job.started_at_ms))
