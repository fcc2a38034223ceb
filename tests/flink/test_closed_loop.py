"""
Headgate as a process of its own beside a real Flink: a wrong parallelism becomes the right one, and stays.

What is right follows from the load job's costs by arithmetic; each need lies well between two whole numbers. How
often the parallelism changed is counted by Flink's own word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from statistics import median

import pytest
from tests.flink.conftest import RunHeadgate, RunHeadgateProcess, RunJob

from headgate.demo.loadjob import LoadJobSpec
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.settings import LAB, STOCK, Settings
from headgate.model.decision import Outcome
from headgate.testing.load_jobs import RATE_PER_S, UTILIZATION_TARGET, two_stages
from headgate.testing.observed import ObservedJob
from headgate.testing.process import RunningService

pytestmark = pytest.mark.flink

MAX_RESCALES = 3
DECIDE_INTERVAL = timedelta(seconds=2)
"""The shortest: before so many of them have passed, it is no use to look how many cycles there were."""
FURTHER_CYCLES = 5
LIMIT = timedelta(minutes=6)
"""A quarter of it is usual."""

_BUFFER_KEYS = ("segment-size", "min-segment-size", "buffer-debloat.enabled", "buffer-debloat.target")
DEFAULT_BUFFERS: Settings = {key: value for key, value in LAB.items() if not key.endswith(_BUFFER_KEYS)}


def optimum(spec: LoadJobSpec) -> Mapping[str, int]:
    """Return what the job needs, by arithmetic."""
    return spec.analytic_parallelism(RATE_PER_S, UTILIZATION_TARGET)


def follow(cluster: LocalCluster, run_job: RunJob, spec: LoadJobSpec, *, start: int) -> ObservedJob:
    """Start a job at a parallelism that is wrong for it, and look at it from then on."""
    job = ObservedJob(cluster.url, run_job(spec, start), spec)
    job.look()
    assert set(job.parallelism.values()) == {start}
    return job


def await_settled(service: RunningService, job: ObservedJob, wanted: Mapping[str, int], *, cycles: int) -> None:
    """Wait until a job ran at the wanted parallelism in so many cycles, one after another, that could act."""

    def settled() -> bool:
        job.look()
        assert job.rescales <= MAX_RESCALES, f"{job.history}\n{service.said}"
        if job.parallelism != wanted or datetime.now(UTC) - job.changed_at < cycles * DECIDE_INTERVAL:
            return False
        decided = service.decisions(f"lab/{job.name}", since=job.changed_at)
        return sum(each.outcome is not Outcome.NOT_READY for each in decided) >= cycles

    service.until(settled, limit=LIMIT)


@pytest.mark.long
def test_a_job_reaches_its_optimum_over_spark_and_the_samples_log(
    cluster: LocalCluster, run_job: RunJob, run_headgate_process: RunHeadgateProcess
) -> None:
    """By the pipeline that ships: at most three rescales, then rest."""
    job = follow(cluster, run_job, two_stages("spark"), start=1)
    service = run_headgate_process({"pipeline": "spark", "spark.master": "local[2]", "decide.interval": "5 s"})
    wanted = optimum(two_stages("any"))
    assert wanted == {"source": 1, "a": 2, "b": 3, "sink": 1}
    await_settled(service, job, wanted, cycles=2)


@pytest.mark.parametrize("cluster", [DEFAULT_BUFFERS], indirect=True, ids=["default-buffers"])
@pytest.mark.long
def test_an_overload_that_hides_in_network_buffers_is_seen(
    cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate
) -> None:
    """
    Stages that take three fifths of what comes are enlarged to the optimum while the source shows no lag.

    Checkpoints wait for the records in the buffers, and a rescale for a checkpoint: hence the longer restart time.
    """
    job = follow(cluster, run_job, two_stages("hidden"), start=1)
    service = run_headgate({"job.autoscaler.restart.time": "30 s"})
    lags: list[float] = []

    def decided() -> bool:
        job.look()
        lags.append(job.lag)
        return bool(service.lines("ScalingReport"))

    service.until(decided, limit=LIMIT)
    # Some 200/s pile up, and hide; what a slow start of the job left behind is soon worked off.
    assert median(lags) < 2 * RATE_PER_S
    await_settled(service, job, optimum(two_stages("any")), cycles=FURTHER_CYCLES)


@pytest.mark.long
@pytest.mark.parametrize("cluster", [STOCK], indirect=True, ids=["stock"])
def test_stock_settings_only_take_longer(cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate) -> None:
    """
    Metrics come every 10 s, and a rescale waits for the next of the checkpoints that are 60 s apart.

    The limit for reaching the new parallelism follows from these settings, so nobody is told that it is late.
    """
    spec = replace(two_stages("stock"), checkpoint_interval=timedelta(seconds=60))
    job = follow(cluster, run_job, spec, start=2)
    service = run_headgate(
        {
            "collect.interval": "5 s",
            "decide.interval": "5 s",
            "job.autoscaler.metrics.window": "40 s",
            "job.autoscaler.stabilization.interval": "10 s",
        }
    )
    await_settled(service, job, optimum(spec), cycles=3)
    assert job.rescales == 1
    assert len(service.lines("RescaleReached")) == 1
    assert not service.lines("RescaleNotReached")
