"""What the tests of the Flink engine share: recorded answers, a fake server with a job, and a client of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.engines.flink.kafka_story import Brokers

from headgate.engines.flink.client import FlinkClient
from headgate.options.service import ClusterOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, FakeVertex
from headgate.testing.watch import FlinkWatch

FIXTURES = Path(__file__).parents[3] / "fixtures" / "flink"
JOB_ID = "a" * 32


@pytest.fixture
def recorded() -> Callable[[str], Any]:
    """Give a recorded answer by its name."""
    return lambda name: json.loads((FIXTURES / f"{name}.json").read_text())


@pytest.fixture
def series() -> Callable[[str], list[dict[str, Any]]]:
    """Give a recorded series by its name, one dictionary a second."""
    return lambda name: [json.loads(line) for line in (FIXTURES / f"{name}.jsonl").read_text().splitlines()]


@pytest.fixture
def job() -> FakeJob:
    """Give a job `source -> work -> sink`, of which `work` is 60 % busy."""
    return FakeJob(
        job_id=JOB_ID,
        name="orders",
        rate=600.0,
        vertices=[
            FakeVertex(id="s" * 32, name="Source: source", capacity=10_000.0, partitions=4),
            FakeVertex(id="w" * 32, name="work", parallelism=2, capacity=500.0, inputs={"s" * 32: "HASH"}),
            FakeVertex(id="z" * 32, name="sink", capacity=10_000.0, inputs={"w" * 32: "FORWARD"}),
        ],
    )


@pytest.fixture
async def server(job: FakeJob) -> AsyncIterator[FakeFlink]:
    """Serve the job."""
    async with FakeFlink([job]) as fake:
        yield fake


@pytest.fixture
async def client(server: FakeFlink) -> AsyncIterator[FlinkClient]:
    """Give a client of the server."""
    async with FlinkClient(ClusterOptions(name="fake", url=server.url)) as opened:
        yield opened


@pytest.fixture
async def hasty(server: FakeFlink) -> AsyncIterator[FlinkClient]:
    """Give a client that gives up after half a second: a healthy answer takes less, also on a busy machine."""
    options = ClusterOptions(name="fake", url=server.url, request_timeout=timedelta(milliseconds=500))
    async with FlinkClient(options) as opened:
        yield opened


@pytest.fixture
def watch(server: FakeFlink, client: FlinkClient, job: FakeJob) -> FlinkWatch:
    """Give what takes samples of the job, ten seconds apart unless told otherwise."""
    return FlinkWatch(server, client, job)


@pytest.fixture
def brokers() -> Brokers:
    """Give brokers of four empty partitions."""
    return Brokers()


@pytest.fixture
def source(job: FakeJob) -> FakeVertex:
    """Give the source of the job, which reads four partitions and keeps up."""
    vertex = job["Source: source"]
    vertex.emitted, vertex.committed, vertex.connections = [-1.0] * 4, [-1.0] * 4, 5.0
    return vertex


@pytest.fixture
def kafka(server: FakeFlink, client: FlinkClient, job: FakeJob, brokers: Brokers) -> FlinkWatch:
    """Give what takes samples of the job, with brokers to ask."""
    return FlinkWatch(server, client, job, offsets=brokers)
