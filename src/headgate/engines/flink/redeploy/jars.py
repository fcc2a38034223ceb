"""The program of a launch spec: its jar on the cluster, and what it is asked to build there."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp

from headgate.config.secrets import redact, references, resolve
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.redeploy.answers import read_jars, read_job_id, read_plan, read_upload
from headgate.errors import HeadgateError, RefusedError
from headgate.model.redeploy import Launch, Start

PROGRAM_LIMIT = timedelta(minutes=1)
"""How long Flink may take for what a program builds: it runs its `main` for the answer."""
_TAG = 12


async def jar_id(client: FlinkClient, launch: Launch) -> str:
    """
    Give the id of the launch spec's jar on the cluster; a local file is uploaded unless that was done before.

    Raises:
        RefusedError: it is neither a file here nor a jar there.
    """
    there = await client.get("/jars", read_jars)
    path = Path(launch.jar)
    if not await asyncio.to_thread(path.is_file):
        found = next((jar.id for jar in there if launch.jar in {jar.id, jar.name}), None)
        if found is None:
            message = f"cluster {client.cluster} has no jar {launch.jar!r}, and it is no file here"
            raise RefusedError(message)
        return found
    content = await asyncio.to_thread(path.read_bytes)
    name = f"{hashlib.sha256(content).hexdigest()[:_TAG]}-{path.name}"
    known = next((jar.id for jar in there if jar.name == name), None)
    return known or await _upload(client, name, content)


async def planned_vertices(client: FlinkClient, jar: str, launch: Launch, start: Start) -> frozenset[str]:
    """
    Ask what the program would build, without starting anything; gives the ids of its vertices.

    Raises:
        RefusedError: the program cannot be run, or a secret that the launch spec names is not there.
        UnreachableError: Flink answered with an error of its own, which may be the program's.
    """
    body = order(launch, start)
    return await client.post(f"/jars/{jar}/plan", body, read_plan, limit=PROGRAM_LIMIT)


async def run(
    client: FlinkClient, jar: str, launch: Launch, start: Start, *, job_id: str | None, savepoint: str | None
) -> str:
    """
    Start the program, and give its job id; where an id is chosen, Flink refuses to start a second job with it.

    Raises:
        RefusedError: the job could not be started, or there was one of this id.
        UnreachableError: no answer, or an error; the job may have been started.
    """
    body = order(launch, start)
    if job_id is not None:
        body["jobId"] = job_id
    if savepoint is not None:
        body |= {"savepointPath": savepoint, "allowNonRestoredState": False}
    return await client.post(f"/jars/{jar}/run", body, read_job_id, limit=PROGRAM_LIMIT)


def order(launch: Launch, start: Start) -> dict[str, Any]:
    """
    Write what a program is asked for, secrets resolved.

    Raises:
        RefusedError: a secret is not there.
    """
    try:
        args = [resolve(argument) for argument in launch.args]
        configuration = {key: resolve(value) for key, value in start.overlay.over(launch.configuration).items()}
    except ValueError as error:
        message = f"the launch spec cannot be used: {error}"
        raise RefusedError(message) from error
    parallelism = start.parallelism or launch.parallelism
    body = {"entryClass": launch.entry_class, "parallelism": parallelism, "flinkConfiguration": configuration}
    return {key: value for key, value in body.items() if value} | {"programArgsList": args}


def concealed(error: HeadgateError, launch: Launch) -> HeadgateError:
    """Give the error without the secrets of the launch spec: a program may quote its arguments when it fails."""
    values: list[str] = []
    for reference in references("\n".join([*launch.args, *launch.configuration.values()])):
        with suppress(ValueError):
            values.append(resolve(reference))
    text = redact(str(error), values)
    return error if text == str(error) else type(error)(text)


async def _upload(client: FlinkClient, name: str, content: bytes) -> str:
    form = aiohttp.FormData()
    form.add_field("jarfile", content, filename=name, content_type="application/x-java-archive")
    return await client.post("/jars/upload", form, read_upload, limit=PROGRAM_LIMIT)
