"""Ending a job with a savepoint, under a request id of our choice, and finding that savepoint again."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob
from headgate.engines.flink.redeploy.answers import Stop, read_latest_savepoint, read_stop
from headgate.errors import NotFoundError, RefusedError
from headgate.model.measures import JobStatus
from headgate.model.redeploy import trigger_of
from headgate.model.state import Intent

SKEW = timedelta(minutes=1)
"""How far the clocks of Headgate and of the cluster may be apart."""


async def stop(client: FlinkClient, intent: Intent, directory: str | None) -> None:
    """
    Ask for the savepoint that ends the job; the same intent asks once, however often this is sent.

    Raises:
        NotFoundError: the job is gone.
        RefusedError: Flink will not.
        UnreachableError: no answer; it may have been begun.
    """
    body = {"drain": False, "triggerId": _trigger(intent)} | ({"targetDirectory": directory} if directory else {})
    await client.post(f"/jobs/{intent.job_id}/stop", body, lambda _: None)


async def progress(client: FlinkClient, intent: Intent) -> Stop | None:
    """Tell how far the stop has come; None where the cluster knows of none (it forgets after five minutes)."""
    with suppress(NotFoundError):
        return await client.get(f"/jobs/{intent.job_id}/savepoints/{_trigger(intent)}", read_stop)
    return None


async def savepoint(client: FlinkClient, intent: Intent, old: ListedJob | None) -> str:
    """
    Find the savepoint that ended the job: by the request that asked for it, later in the job's own list.

    Raises:
        RefusedError: something else has ended the job.
    """
    known = await progress(client, intent)
    if known is not None and known.location is not None:
        return known.location
    if old is not None and old.status is JobStatus.FINISHED:
        latest = await client.get(f"/jobs/{old.job_id}/checkpoints", read_latest_savepoint)
        if latest and latest[1] >= (intent.decided_at - SKEW).timestamp() * 1000:
            return latest[0]
    message = (
        f"the job is {old.status if old else 'gone'}, and there is no savepoint of this change: it did not end by it"
    )
    raise RefusedError(message)


def _trigger(intent: Intent) -> str:
    return trigger_of(intent.job_id, intent.decision_id)
