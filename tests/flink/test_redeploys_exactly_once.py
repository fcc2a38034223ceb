"""Redeploys under load, one after another: no record is lost, and none is counted twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import pytest
from tests.flink.conftest import RunJob, by_default_scheduler

from headgate.demo.loadjob import ENTRY_CLASS, ConstantProfile, LoadJobSpec, Stage
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.model.events import EventReason
from headgate.model.redeploy import Launch
from headgate.testing.recounting import recount
from headgate.testing.redeploying import RedeployingService

pytestmark = pytest.mark.flink

RATE_PER_S = 500.0
LIMIT = timedelta(minutes=2)
"""For each redeploy; a few seconds are usual."""


def job_of(name: str) -> LoadJobSpec:
    """Make a job of two keyed stages, busy with one subtask, and busier with what piled up in a redeploy."""
    stages = (Stage(name="first", cost_us=1400, keyed=True), Stage(name="second", cost_us=1000, keyed=True))
    return LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=RATE_PER_S), epoch=datetime.now(UTC), name=name)


def reached(headgate: RedeployingService, number: int) -> bool:
    """Tell whether so many redeploys have reached what they were for."""
    return headgate.events.reasons.count(EventReason.RESCALE_REACHED) == number


@pytest.mark.parametrize("redeploys", [3, pytest.param(20, marks=pytest.mark.long)])
@by_default_scheduler
async def test_no_record_is_lost_or_doubled_over_redeploys_under_load(
    cluster: LocalCluster, run_job: RunJob, jar: Path, redeploys: int
) -> None:
    """What the source emitted in all, by its offsets, is what each keyed stage counted in its state, to the record."""
    spec = job_of(f"again-and-again-{redeploys}")
    run_job(spec, 1)
    launch = Launch(jar=str(jar), entry_class=ENTRY_CLASS, args=tuple(spec.arguments()), parallelism=1)
    async with RedeployingService(cluster.url, launch) as headgate:
        for number, parallelism in enumerate(islice(cycle((4, 2, 3, 1)), redeploys), start=1):
            await headgate.order(spec.name, {"first": parallelism})
            await headgate.until(partial(reached, headgate, number), LIMIT)
        assert EventReason.RESCALE_NOT_REACHED not in headgate.events.reasons
    jobs = [job for job in call_json(f"{cluster.url}/jobs/overview")["jobs"] if job["name"] == spec.name]
    assert sorted(job["state"] for job in jobs) == ["FINISHED"] * redeploys + ["RUNNING"]

    (running,) = [job["jid"] for job in jobs if job["state"] == "RUNNING"]
    quiet, counts = recount(cluster.url, running, spec, limit=LIMIT)
    assert call_json(f"{cluster.url}/jobs/{quiet}")["state"] == "RUNNING"
    call_json(f"{cluster.url}/jobs/{quiet}?mode=cancel", method="PATCH")
    assert len(set(counts.values())) == 1, counts
    assert counts["source"] > redeploys * RATE_PER_S / 5  # there was load between any two of them
