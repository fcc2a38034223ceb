"""Starting a job for the first time, from the launch spec that later redeploys will use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob, read_jobs
from headgate.engines.flink.redeploy.answers import read_failure
from headgate.engines.flink.redeploy.jars import concealed, jar_id, run
from headgate.errors import HeadgateError, RefusedError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.redeploy import Launch, Start
from headgate.options.service import ClusterOptions
from headgate.options.units import format_duration

_POLL_S = 0.3


Remember = Callable[[], Awaitable[None]]


async def _nothing() -> None:
    """Remember nothing."""


async def submit_job(
    cluster: ClusterOptions,
    key: JobKey,
    launch: Launch,
    start: Start,
    *,
    savepoint: str | None = None,
    remember: Remember = _nothing,
) -> str:
    """
    Start a job that does not run yet, wait until all of it runs, and give its id.

    Args:
        cluster: where.
        key: with the name that the program gives its job.
        launch: what it is started from.
        start: with which parallelism and configuration.
        savepoint: savepoint or checkpoint to start from.
        remember: saves how the job is started; called right before that, for nobody may come to save it afterwards.

    Raises:
        RefusedError: one of that name runs, the program's job is called otherwise, or it did not start in time; what
            was started is cancelled.
        UnreachableError: no answer.
    """
    try:
        async with FlinkClient(cluster) as client:
            running = [job.job_id for job in await client.get("/jobs/overview", read_jobs) if _is_alive(job, key)]
            if running:
                message = f"{key} runs already, as {', '.join(running)}"
                raise RefusedError(message)
            jar = await jar_id(client, launch)
            await remember()
            job_id = await run(client, jar, launch, start, job_id=None, savepoint=savepoint)
            await _await_start(client, key, job_id, launch.start_limit)
            return job_id
    except HeadgateError as error:
        raise concealed(error, launch) from None


async def _await_start(client: FlinkClient, key: JobKey, job_id: str, limit: timedelta) -> None:
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await _await_running(client, key, job_id)
    except TimeoutError as error:
        await client.patch(f"/jobs/{job_id}?mode=cancel")
        message = f"{key} did not start within {format_duration(limit)}, and was cancelled"
        raise RefusedError(message) from error


async def _await_running(client: FlinkClient, key: JobKey, job_id: str) -> None:
    while True:
        jobs = {job.job_id: job for job in await client.get("/jobs/overview", read_jobs)}
        job = jobs.get(job_id)
        if job is not None and job.status.is_over and job.status is not JobStatus.FINISHED:
            why = await client.get(f"/jobs/{job_id}/exceptions", read_failure)
            message = f"{key} could not be started: {why or job.status}"
            raise RefusedError(message)
        if job is not None and job.name != key.name:
            await client.patch(f"/jobs/{job_id}?mode=cancel")
            hint = f"Hint: submit {key.cluster}/{job.name}"
            message = f"the program calls its job {job.name!r}, not {key.name!r}, and was cancelled. {hint}"
            raise RefusedError(message)
        if job is not None and job.status in {JobStatus.RUNNING, JobStatus.FINISHED}:
            return
        await asyncio.sleep(_POLL_S)


def _is_alive(job: ListedJob, key: JobKey) -> bool:
    return job.name == key.name and not job.status.is_over
