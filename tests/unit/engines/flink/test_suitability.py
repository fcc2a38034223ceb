"""What REST tells of a job's fitness for reactive mode; what it does not tell stays unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from headgate.algorithm.suitability import Facts, unknown, unsuitable
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.suitability import inspect
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import ReactiveOptions
from headgate.ports import JobContext
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain
from headgate.testing.faults import Fault

REACTIVE = {"scheduler-mode": "reactive", "execution.target": "embedded", "jobmanager.scheduler": "adaptive"}
PLAIN = AutoscalerOptions()


def context(job: FakeJob, reactive: ReactiveOptions = PLAIN.reactive) -> JobContext:
    """Give the job as its cluster lists it."""
    options = replace(PLAIN, reactive=reactive)
    return JobContext(key=JobKey("fake", job.name), job_id=job.job_id, status=JobStatus.RUNNING, options=options)


@pytest.fixture(autouse=True)
def telling(server: FakeFlink, job: FakeJob, recorded: Callable[[str], Any]) -> None:
    """Let the server answer as Flink 2.3 does: the job is submitted with two everywhere, and has equal slots."""
    path = f"/jobs/{job.job_id}"
    for vertex in job.vertices:
        vertex.parallelism = 2
    server.workers = server.workers[:1]
    server.recorded = {
        f"{path}/rescales/config": recorded("rescales_config_reactive"),
        f"{path}/rescales/history": [],
        f"{path}/config": {"execution-config": {"job-parallelism": 2, "user-config": {}}},
        "/taskmanagers/tm0": recorded("taskmanager"),
    }


async def facts(client: FlinkClient, job: FakeJob, reactive: ReactiveOptions = PLAIN.reactive) -> Facts:
    """Look at the job."""
    return (await inspect(client, context(job, reactive))).facts


async def test_a_fit_job_is_known_to_be_fit_in_every_respect(client: FlinkClient, job: FakeJob) -> None:
    """Nothing is left open where Flink tells everything."""
    found = await facts(client, job)
    assert unsuitable(found) == ()
    assert unknown(found) == ()
    assert found.bounds == {"Source: source": 128, "work": 128, "sink": 128}
    assert found.reactive is False


async def test_flinks_own_reactive_mode_is_known_by_the_cluster(
    client: FlinkClient, server: FakeFlink, job: FakeJob
) -> None:
    """A second job, or another kind of cluster, stands against it; what was submitted is hidden there."""
    server.config = dict(REACTIVE)
    found = await facts(client, job)
    assert unsuitable(found) == ()
    assert unknown(found) == ("whether the program sets a vertex's parallelism",)
    server.add(chain(job_id="b" * 32, name="second", vertices=2, rate=1))
    del server.config["execution.target"]
    assert [said[:20] for said in unsuitable(await facts(client, job))] == [
        "scheduler-mode: reac",
        "its cluster runs 2 j",
    ]


async def test_another_scheduler_and_missing_checkpoints_are_seen(client: FlinkClient, job: FakeJob) -> None:
    """A default scheduler refuses to tell a job's requirements, which is no reason to fail."""
    job.scheduler, job.checkpoint_interval_ms = "Default", None
    found = await facts(client, job)
    assert (found.adaptive, found.checkpoints, found.unaligned) == (False, False, None)
    assert len(unsuitable(found)) == 2


async def test_an_older_flink_tells_its_scheduler_by_the_clusters_settings(
    client: FlinkClient, server: FakeFlink, job: FakeJob
) -> None:
    """Flink 1.18 names no scheduler in a job's details."""
    job.scheduler = None
    server.config["jobmanager.scheduler"] = "adaptive"
    assert (await facts(client, job)).adaptive is True
    server.config["jobmanager.scheduler"] = "default"
    assert (await facts(client, job)).adaptive is False


def cut(worker: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give a worker of which the job has one slot that is larger than its half."""
    slot = worker["allocatedSlots"][0]
    return {**worker, "allocatedSlots": [{**slot, "resource": {**slot["resource"], "cpuCores": 1.5}}]}


async def test_slots_that_are_cut_to_measure_are_seen_on_the_workers(
    client: FlinkClient, server: FakeFlink, job: FakeJob, recorded: Callable[[str], Any]
) -> None:
    """Another job's slots tell nothing of this one's."""
    server.recorded["/taskmanagers/tm0"] = cut(recorded("taskmanager"))
    assert (await facts(client, job)).fine_grained is True
    other = chain(job_id="b" * 32, name="second", vertices=2, rate=1)
    server.add(other)
    assert (await facts(client, other)).fine_grained is None


async def test_of_many_workers_some_are_asked_and_no_idle_one(
    client: FlinkClient, server: FakeFlink, job: FakeJob
) -> None:
    """A look at a large cluster is no burden for it."""
    idle = [{"id": f"idle{number}", "slotsNumber": 2, "freeSlots": 2} for number in range(10)]
    busy = [{"id": f"busy{number}", "slotsNumber": 2, "freeSlots": 0} for number in range(100)]
    server.recorded["/taskmanagers"] = {"taskmanagers": [*idle, *busy]}
    await facts(client, job)

    asked = [each.path.rpartition("/")[2] for each in server.requests if "/taskmanagers/" in each.path]
    assert sorted(asked) == sorted(f"busy{number}" for number in range(32))


async def test_a_parallelism_that_the_program_sets_is_seen_while_nobody_has_changed_it(
    client: FlinkClient, server: FakeFlink, job: FakeJob, recorded: Callable[[str], Any]
) -> None:
    """Afterwards nobody can tell whose it is; and a policy that keeps the ratios wants it."""
    history = f"/jobs/{job.job_id}/rescales/history"
    job.vertices[1].parallelism = 5
    server.recorded[history] = [{"triggerCause": "INITIAL_SCHEDULE"}]
    assert (await facts(client, job)).hand_set == ("work",)
    server.recorded[history] = recorded("rescales_history")
    assert (await facts(client, job)).hand_set is None
    server.recorded[history] = []
    assert (await facts(client, job)).hand_set is None
    assert (await facts(client, job, ReactiveOptions(policy="proportional"))).hand_set == ()


async def test_a_call_that_fails_leaves_its_fact_open(client: FlinkClient, server: FakeFlink, job: FakeJob) -> None:
    """A look at a job that Flink half answers is still a look."""
    for path in ("/jobmanager/config", "*/checkpoints/config", "/taskmanagers*", "*/resource-requirements"):
        server.plant(Fault(path=path, status=500))
    found = await facts(client, job)
    assert unsuitable(found) == ()
    assert len(unknown(found)) == 4
    assert found.reactive is None


async def test_the_waits_come_with_the_facts(client: FlinkClient, job: FakeJob) -> None:
    """As the job's own scheduler tells them."""
    told = {wait.key: wait.value for wait in (await inspect(client, context(job))).waits}
    assert told["jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout"] == "1 s"
