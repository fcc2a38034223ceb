"""Executors by workers: how many it takes, and when nobody may ask for any."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from tests.conformance.spark_stage import FakeWorkers

from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.lever import WorkersLever
from headgate.errors import ConflictError, NotFoundError, RefusedError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import WorkersOptions
from headgate.options.spark import SparkOptions
from headgate.ports import JobContext
from headgate.testing.fake_spark import FakeSpark


class Stage:
    """One application on one worker, and a lever."""

    def __init__(self, spark: FakeSpark) -> None:
        """Start nothing yet."""
        workers = WorkersOptions(provider="workers", least=1, most=4)
        options = SparkOptions(name="streams", master=spark.url, event_log_dir=spark.log_dir, workers=workers)
        self.spark = spark
        self.cluster = SparkCluster(options)
        self.workers = self.cluster.provider = FakeWorkers()

    def lever(self, settings: Mapping[str, str] | None = None, *, cores: int = 1) -> WorkersLever:
        """Start an application with an executor of so many cores."""
        started = self.spark.start("orders", settings=settings)
        self.spark.applications[started].add_executor(cores)
        ctx = JobContext(
            key=JobKey("streams", "orders"), job_id=started, status=JobStatus.RUNNING, options=AutoscalerOptions()
        )
        return WorkersLever(self.cluster, ctx)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Serve a master."""
    async with FakeSpark(tmp_path) as spark:
        made = Stage(spark)
        yield made
        await made.cluster.close()


async def test_each_worker_of_one_core_has_one_executor(stage: Stage) -> None:
    """So many workers as executors, asked for once."""
    lever = stage.lever()
    assert (await lever.executors()).cores == 1
    assert await lever.request(3) is True
    assert await lever.request(3) is False
    assert stage.workers.requests == [3]


async def test_larger_workers_have_several(stage: Stage) -> None:
    """Three executors of two cores take two workers of four."""
    stage.spark.workers = [4]
    lever = stage.lever({"spark.executor.cores": "2"}, cores=2)
    await lever.request(3)
    assert stage.workers.requests == [2]


async def test_an_executor_without_a_size_takes_a_whole_worker(stage: Stage) -> None:
    """Spark's own default on a standalone cluster."""
    stage.spark.workers = [4]
    lever = stage.lever({"spark.executor.cores": ""}, cores=4)
    await lever.request(2)
    assert stage.workers.requests == [2]


async def test_memory_may_leave_room_for_fewer(stage: Stage) -> None:
    """Cores for two, memory for one: three executors take three workers."""
    stage.spark.workers, stage.spark.worker_mb = [4], 1023
    lever = stage.lever({"spark.executor.cores": "2"}, cores=2)
    await lever.request(3)
    assert stage.workers.requests == [3]


@pytest.mark.parametrize(("cores", "mb"), [(1, 1024), (2, 511)])
async def test_where_no_executor_fits_no_worker_would_help(stage: Stage, cores: int, mb: int) -> None:
    """Too few cores, or too little memory."""
    stage.spark.workers, stage.spark.worker_mb = [cores], mb
    lever = stage.lever({"spark.executor.cores": "2"}, cores=2)
    with pytest.raises(RefusedError, match="not one executor"):
        await lever.request(3)
    assert not stage.workers.requests


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"spark.dynamicAllocation.enabled": "true"}, r"spark\.dynamicAllocation\.enabled=false"),
        ({"spark.cores.max": "2"}, r"leave spark\.cores\.max unset"),
    ],
)
async def test_an_application_that_says_how_many_it_takes_is_left_alone(
    stage: Stage, settings: Mapping[str, str], why: str
) -> None:
    """More workers would not be used, or taken back."""
    lever = stage.lever(settings)
    with pytest.raises(RefusedError, match=why):
        await lever.request(3)
    assert not stage.workers.requests


@pytest.mark.parametrize("count", [0, 5])
async def test_the_bounds_hold(stage: Stage, count: int) -> None:
    """Whatever was decided."""
    lever = stage.lever()
    with pytest.raises(RefusedError, match=r"workers\.min 1 and workers\.max 4"):
        await lever.request(count)


async def test_nobody_takes_workers_from_another_application(stage: Stage) -> None:
    """One more worker might be anybody's."""
    lever = stage.lever()
    stage.spark.start("clicks")
    with pytest.raises(RefusedError, match="are those of clicks too"):
        await lever.request(2)


async def test_workers_that_the_provider_does_not_know_make_it_wait(stage: Stage) -> None:
    """Those that die or come just now; others are to be ended by whoever started them."""
    lever = stage.lever()
    stage.spark.workers = [1, 1]
    with pytest.raises(ConflictError, match="has 2 workers, of which the provider has 1"):
        await lever.request(3)


async def test_without_a_provider_nothing_can_be_had(stage: Stage) -> None:
    """And it is said where to name one."""
    lever = stage.lever()
    stage.cluster.provider = None
    with pytest.raises(RefusedError, match=r"set workers\.provider"):
        await lever.request(2)


async def test_one_that_has_ended_is_not_found(stage: Stage) -> None:
    """In the middle of a cycle, too."""
    lever = stage.lever()
    stage.spark.end(next(iter(stage.spark.applications)))
    with pytest.raises(NotFoundError):
        await lever.request(2)
