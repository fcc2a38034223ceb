"""Looks at jobs for the pre-flight check of reactive mode; opens connections, reads, and closes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from headgate.config import for_job
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.suitability import Inspection, inspect
from headgate.errors import UnreachableError
from headgate.options.service import ServiceOptions
from headgate.ports import JobContext


async def inspect_jobs(options: ServiceOptions, is_wanted: Callable[[JobContext], bool]) -> Sequence[Inspection]:
    """
    Look at every wanted job that is not over.

    Raises:
        ConfigError: a file or secret that a cluster names is not there.
        UnreachableError: a cluster does not answer.
    """
    async with AsyncExitStack() as stack:
        clients = {cluster.name: await stack.enter_async_context(FlinkClient(cluster)) for cluster in options.clusters}
        listed = await FlinkJobListFetcher(clients, lambda key, own: for_job(options, key, own)).fetch()
        if listed.failures:
            raise UnreachableError("; ".join(listed.failures.values()))
        jobs = [job for job in listed.jobs if not job.status.is_over and is_wanted(job)]
        return await asyncio.gather(*(inspect(clients[job.key.cluster], job) for job in jobs))
