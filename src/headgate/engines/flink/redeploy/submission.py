"""Starting a job for the first time, from the launch spec that later redeploys will use."""

from __future__ import annotations

import asyncio

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob, read_jobs
from headgate.engines.flink.redeploy.answers import read_failure
from headgate.engines.flink.redeploy.jars import concealed, jar_id, run
from headgate.errors import HeadgateError, RefusedError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.redeploy import Launch, Start
from headgate.options.service import ClusterOptions

_POLL_S = 0.3


async def submit_job(
    cluster: ClusterOptions, key: JobKey, launch: Launch, start: Start, *, savepoint: str | None = None
) -> str:
    """
    Start a job that does not run yet, wait until all of it runs, and give its id.

    Raises:
        RefusedError: one of that name runs, the program's job is called otherwise, or it did not start in time; what
            was started is cancelled.
        UnreachableError: no answer.
    """
    try:
        return await _submitted(cluster, key, launch, start, savepoint)
    except HeadgateError as error:
        raise concealed(error, launch) from None


async def _submitted(cluster: ClusterOptions, key: JobKey, launch: Launch, start: Start, savepoint: str | None) -> str:
    async with FlinkClient(cluster) as client:
        running = [job.job_id for job in await client.get("/jobs/overview", read_jobs) if _is_alive(job, key)]
        if running:
            message = f"{key} runs already, as {', '.join(running)}"
            raise RefusedError(message)
        job_id = await run(client, await jar_id(client, launch), launch, start, job_id=None, savepoint=savepoint)
        try:
            async with asyncio.timeout(launch.start_limit.total_seconds()):
                await _await_running(client, key, job_id)
        except TimeoutError as error:
            await client.patch(f"/jobs/{job_id}?mode=cancel")
            message = f"{key} did not start within {launch.start_limit}, and was cancelled"
            raise RefusedError(message) from error
    return job_id


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
