"""Cores that are wanted become executors, for all queries of an application together."""

from __future__ import annotations

import pytest

from headgate.engines.spark.attached.lever import BackendLever
from headgate.engines.spark.realizer import ExecutorsRealizer
from headgate.errors import RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.fake_spark_backend import FakeBackend

JOB = JobContext(key=JobKey("spark", "orders"), job_id="app-1", status=JobStatus.RUNNING, options=AutoscalerOptions())
READ, COUNT = VertexId("orders.0"), VertexId("orders.1")

pytestmark = pytest.mark.asyncio


async def test_executors_are_whole() -> None:
    """Five cores take two executors of four, also where a task takes two cores."""
    backend = FakeBackend(executors=1, cores=4)
    assert await ExecutorsRealizer(BackendLever(backend)).realize_parallelism_overrides(JOB, {READ: 5, COUNT: 5})
    assert backend.requests == ["total 2"]

    backend.settings["spark.task.cpus"] = "2"
    assert await ExecutorsRealizer(BackendLever(backend)).realize_parallelism_overrides(JOB, {READ: 5, COUNT: 5})
    assert backend.requests[-1] == "total 3"


async def test_queries_that_share_executors_have_one_parallelism() -> None:
    """Two that differ are somebody's mistake."""
    backend = FakeBackend(executors=1)
    with pytest.raises(RefusedError, match=r"\[2, 3\]"):
        await ExecutorsRealizer(BackendLever(backend)).realize_parallelism_overrides(JOB, {READ: 2, COUNT: 3})
    assert backend.requests == []


async def test_no_overrides_ask_for_nothing() -> None:
    """There is nothing to change."""
    backend = FakeBackend(executors=1)
    assert not await ExecutorsRealizer(BackendLever(backend)).realize_parallelism_overrides(JOB, {})


async def test_configuration_needs_factories() -> None:
    """The refusal names what was wanted."""
    changes = ConfigChanges(overrides={"spark.headgate.query.orders.trigger-interval": "10 s"})
    with pytest.raises(RefusedError, match=r"orders\.trigger-interval"):
        await ExecutorsRealizer(BackendLever(FakeBackend(executors=1))).realize_config_overrides(JOB, changes)
