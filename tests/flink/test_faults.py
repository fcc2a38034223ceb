"""A real Flink loses its JobManager, a TaskManager or a job while Headgate runs: one clear event, and it goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.flink.conftest import RunHeadgate, RunJob

from headgate.demo.loadjob import ConstantProfile, LoadJobSpec, Stage
from headgate.demo.submit import cancel_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.testing.observed import ObservedJob
from headgate.testing.process import RunningService

pytestmark = pytest.mark.flink

RATE_PER_S = 150.0
LIMIT = timedelta(minutes=4)
WANTED = {"source": 1, "work": 3, "sink": 1}


def job_of(name: str) -> LoadJobSpec:
    """Make a job whose one stage needs 2.4 subtasks to be 70 % busy, so three."""
    stages = (Stage(name="work", cost_us=round(2.4 * 0.7 / RATE_PER_S * 1e6), keyed=True),)
    return LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=RATE_PER_S), epoch=datetime.now(UTC), name=name)


def presence(service: RunningService, job: str) -> list[str]:
    """Return when a job came and went, in order."""
    lines = [*service.lines("JobAppeared", job), *service.lines("JobVanished", job)]
    return [line["event"] for line in sorted(lines, key=lambda line: line["timestamp"])]


def await_wanted(service: RunningService, job: ObservedJob) -> None:
    """Wait until the job runs at its optimum and Headgate has seen it."""

    def reached() -> bool:
        job.look()
        return job.parallelism == WANTED and bool(service.lines("RescaleReached", f"lab/{job.name}"))

    service.until(reached, limit=LIMIT)


def test_a_cancelled_job_is_one_event_and_the_other_is_rescaled(
    cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate
) -> None:
    """The event says what became of the job; nothing is an error."""
    going = job_of("going")
    gone_id, staying = run_job(going, 1), job_of("staying")
    stays = ObservedJob(cluster.url, run_job(staying, 1), staying)
    service = run_headgate({})
    service.until(lambda: len(service.lines("JobAppeared")) == 2, limit=LIMIT)
    cancel_job(cluster.url, gone_id)
    await_wanted(service, stays)
    (vanished,) = service.lines("JobVanished")
    assert vanished["job"] == "lab/going"
    assert vanished["message"] in {"is CANCELED", "is CANCELLING"}
    assert not service.lines("AutoscalerError")
    assert not service.lines("RescaleNotReached")


def test_a_killed_task_manager_is_survived(cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate) -> None:
    """
    Flink restarts the job on the four slots that are left; Headgate waits, and brings it to its optimum in one rescale.

    On its way there Flink may run the job on fewer for a moment, for not all slots become free at once.
    The job, begun on five slots and so on both TaskManagers, stays the same one: it neither vanishes nor appears anew.
    """
    spec = job_of("orders")
    seen = ObservedJob(cluster.url, run_job(spec, 5), spec)
    service = run_headgate({})
    service.until(lambda: bool(service.lines("JobAppeared")), limit=LIMIT)
    cluster.kill_task_manager(-1)
    try:
        await_wanted(service, seen)
    finally:
        cluster.add_task_manager()
    assert [parallelism["work"] for _, parallelism in seen.history][-2:] == [4, 3]
    assert len(service.lines("RescaleReached")) == 1
    assert presence(service, "lab/orders") == ["JobAppeared"]
    assert not service.lines("ClusterUnreachable")
    assert not service.lines("AutoscalerError")


def test_a_restarted_job_manager_ends_its_jobs_and_a_resubmitted_one_keeps_its_history(
    cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate
) -> None:
    """
    Without high availability the job is gone; Headgate says so, once the cluster answers again.

    A job of the same name is the same job: it is looked after again, with the rescale of its former run remembered.
    """
    spec = job_of("phoenix")
    first = ObservedJob(cluster.url, run_job(spec, 1), spec)
    service = run_headgate({})
    await_wanted(service, first)

    cluster.restart_job_manager()
    service.until(lambda: bool(service.lines("JobVanished")), limit=LIMIT)
    assert len(service.lines("ClusterUnreachable", "lab")) == len(service.lines("ClusterReachable", "lab")) == 1

    second = ObservedJob(cluster.url, run_job(spec, 1), spec)
    assert second.job_id != first.job_id
    service.until(lambda: len(service.lines("RescaleReached", "lab/phoenix")) == 2, limit=LIMIT)
    assert presence(service, "lab/phoenix") == ["JobAppeared", "JobVanished", "JobAppeared"]
    remembered = service.state("lab/phoenix").history
    assert len(remembered) == 2
    assert all(record.reached_at for record in remembered)
    # A JobManager that is on its way down may have answered so.
    assert all("answered 500" in line["message"] for line in service.lines("AutoscalerError"))
