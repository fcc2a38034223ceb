"""Starting a job from a savepoint with a job id of our choice, and with the parallelism that each vertex is to have."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.realizer import read_requirements, with_upper_bounds
from headgate.engines.flink.redeploy.jars import jar_id, planned_vertices, run
from headgate.errors import NotFoundError, RefusedError, UnreachableError
from headgate.model.identity import VertexId
from headgate.model.redeploy import Launch, Start

_PAUSE_S = 0.1
"""
Between two attempts to bound a job that is being built. Measured on Flink 2.3: after 0.1 s each of 8 starts was bounded
before its slots were assigned, after 0.2 s only 3 of 8.
"""
_PATIENCE_S = 2.0


async def check_program(client: FlinkClient, launch: Launch, start: Start, vertices: frozenset[VertexId]) -> None:
    """
    See that the launch spec builds the job that has these vertices; nothing is started.

    Not all of them must be there: another parallelism may chain operators otherwise. None is another program's job.

    Raises:
        RefusedError: it builds another one, or none.
        UnreachableError: Flink answered with an error of its own, which may be the program's.
    """
    planned = await planned_vertices(client, await jar_id(client, launch), launch, start)
    if not vertices & planned:
        message = "the launch spec builds another job: it has none of the vertices of the one that runs"
        raise RefusedError(message)


async def start_job(client: FlinkClient, launch: Launch, start: Start, *, job_id: str, savepoint: str) -> None:
    """
    Start the job.

    A job cannot be submitted with a parallelism for each vertex. So the adaptive scheduler is told of it as soon as
    there is a job to tell it of, most often before that has got its slots. Where it comes too late the job is changed
    once more.

    Raises:
        RefusedError: it could not be started, or there was a job of this id.
        UnreachableError: no answer, or an error; the job may have been started.
    """
    jar = await jar_id(client, launch)
    telling = asyncio.create_task(_bound_early(client, job_id, start.vertices))
    try:
        await run(client, jar, launch, start, job_id=job_id, savepoint=savepoint)
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await telling
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def bound(client: FlinkClient, job_id: str, vertices: Mapping[VertexId, int]) -> None:
    """See to it that a job that is there has the bounds of its vertices; those that it does not have are left out."""
    if not vertices:
        return
    path = _path(job_id)
    present = await client.get(path, read_requirements)
    wanted = with_upper_bounds(present, vertices, lower=1)
    if wanted != present:
        await client.put(path, wanted)


async def _bound_early(client: FlinkClient, job_id: str, vertices: Mapping[VertexId, int]) -> None:
    """Send the bounds again and again until there is a job that takes them, or will not."""
    bounds = {vertex: {"parallelism": {"lowerBound": 1, "upperBound": most}} for vertex, most in vertices.items()}
    while vertices:
        with suppress(UnreachableError, NotFoundError):
            with suppress(RefusedError):  # it has other vertices: another parallelism may chain operators otherwise
                await client.put(_path(job_id), bounds)
            return
        await asyncio.sleep(_PAUSE_S)


def _path(job_id: str) -> str:
    return f"/jobs/{job_id}/resource-requirements"
