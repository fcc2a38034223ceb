"""A job on a fake Flink whose scheduler cannot rescale in place, and the realizer that replaces it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from headgate.model.redeploy import Launch
from headgate.testing.fake_flink import START_MS
from headgate.testing.fake_job import chain
from headgate.testing.fake_redeploys import JAR, RedeployableFlink
from headgate.testing.redeploying import RedeployingService

OLD = f"{1:032x}"
LAUNCH = Launch(jar=JAR, entry_class="Main", args=("--fast",), parallelism=1, start_limit=timedelta(minutes=1))


@pytest.fixture
async def flink() -> AsyncIterator[RedeployableFlink]:
    """Run a job of a source and one stage."""
    job = chain(job_id=OLD, name="orders", vertices=2)
    job.scheduler = "Default"
    async with RedeployableFlink([job]) as server:
        server.config["jobmanager.scheduler"] = "default"
        yield server


@pytest.fixture
async def headgate(flink: RedeployableFlink) -> AsyncIterator[RedeployingService]:
    """Run Headgate's control side, by the server's clock."""

    def clock() -> datetime:
        return datetime.fromtimestamp(flink.now_ms / 1000, UTC)

    assert clock() == datetime.fromtimestamp(START_MS / 1000, UTC)
    async with RedeployingService(flink.url, LAUNCH, clock=clock, interval=timedelta(milliseconds=20)) as service:
        yield service
