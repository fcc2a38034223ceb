"""How the JobManager is told, while a program builds its job, which parallelism each vertex is to have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.no_time import in_no_time

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.redeploy.starting import start_job
from headgate.errors import NotFoundError, RefusedError
from headgate.model.identity import VertexId
from headgate.model.redeploy import Launch, Start
from headgate.options.service import ClusterOptions
from headgate.testing.fake_redeploys import JAR

START = Start(parallelism=4, vertices={VertexId("a"): 2})


class BuildingJobManager(FlinkClient):
    """
    A JobManager whose program takes its time, in seconds of the test's loop.

    Attributes:
        asked_at: when bounds were sent.
        under_way: how many of these calls are not answered yet.
        bounded_at: when they were taken; None before.
    """

    def __init__(self, *, builds_for_s: float, answers_after_s: float = 0.0, fails: bool = False) -> None:
        """Have no job yet."""
        super().__init__(ClusterOptions(name="lab", url="http://127.0.0.1:1"))
        self.asked_at: list[float] = []
        self.under_way = 0
        self.bounded_at: float | None = None
        self._takes = (builds_for_s, answers_after_s)
        self._fails = fails
        self._is_there = False

    async def get(self, _: str, read: Callable[[Any], Any]) -> Any:
        """List the one jar."""
        return read({"files": [{"id": JAR, "name": JAR, "uploaded": 1}]})

    async def post(self, _: str, body: Any, read: Callable[[Any], Any], *, limit: timedelta | None = None) -> Any:  # noqa: ARG002
        """Build the job and start it."""
        await asyncio.sleep(self._takes[0])
        if self._fails:
            message = "the program failed"
            raise RefusedError(message)
        self._is_there = True
        return read({"jobid": body["jobId"]})

    async def put(self, path: str, body: object) -> None:  # noqa: ARG002
        """Take bounds of a job that is there."""
        now_s = asyncio.get_running_loop().time()
        self.asked_at.append(now_s)
        self.under_way += 1
        try:
            await asyncio.sleep(self._takes[1])
        finally:
            self.under_way -= 1
        if not self._is_there:
            message = "no such job"
            raise NotFoundError(message)
        self.bounded_at = now_s


async def start(client: FlinkClient) -> None:
    """Start the job from a savepoint."""
    await start_job(client, Launch(jar=JAR), START, job_id="ab" * 16, savepoint="file:/s")


@in_no_time
async def test_a_jobmanager_is_asked_ten_times_a_second_while_a_program_builds_its_job() -> None:
    """Often enough for the bounds to be there before the slots are, a tenth of what a JobManager once got."""
    client = BuildingJobManager(builds_for_s=2.05)
    await start(client)
    assert len(client.asked_at) == 22
    assert client.bounded_at == pytest.approx(2.1)


@in_no_time
async def test_a_start_that_fails_leaves_no_call_behind() -> None:
    """Bounds that are under way end before the failure is told: the client may be closed then."""
    client = BuildingJobManager(builds_for_s=1.0, answers_after_s=5.0, fails=True)
    with pytest.raises(RefusedError, match="the program failed"):
        await start(client)
    assert (len(client.asked_at), client.under_way) == (1, 0)
