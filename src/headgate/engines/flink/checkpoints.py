"""When a job's last checkpoint was completed; asked for jobs alone that grow only within a time after one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.numbers import instant
from headgate.errors import HeadgateError
from headgate.options.reactive import ExecutionMode
from headgate.ports import JobContext


async def read_last_checkpoint(client: FlinkClient, ctx: JobContext) -> datetime | None:
    """Give when the last one was completed, by the JobManager's clock; None when nobody needs it, or none is known."""
    options = ctx.options
    if options.execution_mode is not ExecutionMode.REACTIVE or options.reactive.checkpoint_age is None:
        return None
    try:
        return await client.get(f"/jobs/{ctx.job_id}/checkpoints", read_completed)
    except HeadgateError:
        return None


def read_completed(answer: Any) -> datetime | None:
    """Read `/jobs/:id/checkpoints`."""
    completed = answer["latest"].get("completed")
    return instant(completed["latest_ack_timestamp"]) if completed else None
