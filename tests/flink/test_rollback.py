"""
Real jobs that a rescale makes sick, and that Headgate brings back with no human hand.

With 64 network buffers for a whole TaskManager two stages of one subtask each run, and two of eight never do: each
attempt fails within a second, for ever. With all of its state in one heap a job spends most of its time in garbage
collection. Source offsets and what the stages counted are compared exactly, over all restarts.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.flink.conftest import RunHeadgate, RunHeadgateProcess, RunJob

from headgate.demo.loadjob import ENTRY_CLASS, SINK, SOURCE, ConstantProfile, LoadJobSpec, Stage
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import LAB, Settings
from headgate.engines.flink.redeploy.realizer import SavepointRedeployRealizer
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.redeploy import Launch, Redeploy, Start, successor_of
from headgate.model.rollback import Side
from headgate.model.state import Intent
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext
from headgate.providers.folder import end_workers
from headgate.providers.local import FOLDER
from headgate.testing.observed import ObservedJob
from headgate.testing.process import RunningService
from headgate.testing.recounting import recount

pytestmark = pytest.mark.flink

LIMIT = timedelta(minutes=4)
"""A tenth of it is usual."""
FURTHER_CYCLES = 3
SICK = 8
ONE = {SOURCE: 1, "a": 1, "b": 1, SINK: 1}
NEEDED = {**ONE, "a": SICK, "b": SICK}
TWO = {SOURCE: 2, "work": 2, SINK: 2}
TOUCHY = {
    # Flink tells the mean of the last minute, which takes as long to show all of it.
    "job.autoscaler.rollback.gc-pressure": 0.2,
    "job.autoscaler.rollback.pressure-after": "0 s",
    # The load, which soon shows what garbage collection leaves of the capacity, would ask for more by itself.
    "job.autoscaler.scale-up.max-factor": 0,
}

STUBBORN: Settings = {
    **LAB,
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": str(2**31 - 1),
    "restart-strategy.fixed-delay.delay": "1 s",
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
}
NARROW_SETTINGS: Settings = {
    **STUBBORN,
    "taskmanager.memory.network.min": "256kb",
    "taskmanager.memory.network.max": "256kb",
    # Tasks that wait for buffers hold up all others.
    "taskmanager.network.memory.buffers-request-timeout": "100 ms",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a cluster is made."""

    task_managers: int
    slots: int
    settings: Settings = field(hash=False)


NARROW = Shape(task_managers=1, slots=SICK, settings=NARROW_SETTINGS)
TIGHT = Shape(task_managers=2, slots=1, settings={**STUBBORN, "taskmanager.memory.task.heap.size": "64m"})
FIXED = Shape(task_managers=2, slots=1, settings={**TIGHT.settings, "jobmanager.scheduler": "default"})
"""Not `TIGHT`, whose TaskManagers tell of the garbage of the test before for a minute."""
BARE = Shape(task_managers=0, slots=SICK, settings=NARROW_SETTINGS)
narrow, tight, fixed, bare = (
    pytest.mark.parametrize("cluster", [shape], indirect=True, ids=[name])
    for name, shape in {"narrow": NARROW, "tight": TIGHT, "fixed": FIXED, "bare": BARE}.items()
)

QUICK: Mapping[str, object] = {
    "decide.interval": "1 s",
    "job.autoscaler.metrics.window": "8 s",
    "job.autoscaler.stabilization.interval": "3 s",
    "job.autoscaler.vertex.max-parallelism": SICK,
}


@pytest.fixture(scope="module")
def cluster(runtime: FlinkRuntime, request: pytest.FixtureRequest) -> Iterator[LocalCluster]:
    """Run a cluster of the shape that a test is parametrised with, for all such tests in a row."""
    shape: Shape = request.param
    made = LocalCluster(runtime=runtime, task_managers=shape.task_managers, slots=shape.slots, settings=shape.settings)
    with made as running:
        try:
            yield running
        finally:
            end_workers(running.directory / FOLDER)


def two_stages(name: str, rate_per_s: float) -> LoadJobSpec:
    """Make a job of which one subtask of each stage manages 47 records/s; 300 a second would need nine."""
    stages = tuple(Stage(name=stage, cost_us=21_000, keyed=True) for stage in ("a", "b"))
    return LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=rate_per_s), epoch=datetime.now(UTC), name=name)


def failures(cluster: LocalCluster, job_id: str) -> list[str]:
    """Return what Flink remembers of a job's failures, the first line of each."""
    entries = call_json(f"{cluster.url}/jobs/{job_id}/exceptions")["exceptionHistory"]["entries"]
    return [entry["stacktrace"].partition("\n")[0] for entry in entries]


def require(cluster: LocalCluster, job_id: str, wanted: Mapping[str, int]) -> None:
    """Ask for another parallelism, as the job's owner would."""
    url = f"{cluster.url}/jobs/{job_id}"
    bounds = {
        vertex["id"]: {"parallelism": {"lowerBound": 1, "upperBound": wanted.get(vertex["name"], 1)}}
        for vertex in call_json(url)["vertices"]
    }
    body, headers = json.dumps(bounds).encode(), {"Content-Type": "application/json"}
    call_json(f"{url}/resource-requirements", method="PUT", body=body, headers=headers)


def required(cluster: LocalCluster, job_id: str) -> list[int]:
    """Return the upper bounds that hold, the largest first."""
    answer = call_json(f"{cluster.url}/jobs/{job_id}/resource-requirements")
    return sorted((each["parallelism"]["upperBound"] for each in answer.values()), reverse=True)


def until(reached: Callable[[], bool]) -> None:
    """Wait for a condition; fail when it does not come."""
    deadline = time.monotonic() + LIMIT.total_seconds()
    while not reached():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.2)


def await_running(service: RunningService, seen: ObservedJob, wanted: Mapping[str, int]) -> None:
    """Wait until a job runs with all its tasks at a parallelism."""

    def reached() -> bool:
        seen.look()
        return seen.running and seen.parallelism == wanted

    service.until(reached, limit=LIMIT)


def await_rollback(service: RunningService, seen: ObservedJob, wanted: Mapping[str, int]) -> str:
    """Wait until a rescale was taken back and the job runs so; returns what was told."""
    service.until(lambda: bool(service.lines("Rollback", f"lab/{seen.name}")), limit=LIMIT)
    await_running(service, seen, wanted)
    (line,) = service.lines("Rollback", f"lab/{seen.name}")
    return str(line["message"])


def scaled_up(service: RunningService) -> bool:
    """Tell whether more was asked of the engine than it can do."""
    return any(f"1 -> {SICK}" in line["message"] for line in service.lines("Scaling"))


def is_back(service: RunningService) -> bool:
    """Tell whether the way back was the last that was asked of the engine: nothing was tried again."""
    return str(service.lines("Scaling")[-1]["vertices"]).endswith(" -> 1")


def await_cycles(service: RunningService, job: str) -> set[str]:
    """Let some more cycles pass; returns the reasons of what was decided in them."""
    return {each.reason for each in service.await_cycles(job, FURTHER_CYCLES, limit=LIMIT)}


def assert_nothing_lost(cluster: LocalCluster, job_id: str, spec: LoadJobSpec) -> None:
    """Compare offsets and counts exactly; no service may be there that would meddle."""
    quiet, counts = recount(cluster.url, job_id, spec, limit=LIMIT)
    call_json(f"{cluster.url}/jobs/{quiet}?mode=cancel", method="PATCH")
    assert counts[SOURCE] > 0
    assert set(counts.values()) == {counts[SOURCE]}


@narrow
def test_a_job_that_fails_over_for_ever_for_want_of_network_memory_goes_back(
    cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate
) -> None:
    """Scaled up by its load, taken back once, with the ceiling remembered: no second try, and every record is there."""
    spec = two_stages("narrow", 300)
    job_id = run_job(spec, 1)
    seen = ObservedJob(cluster.url, job_id, spec)
    service = run_headgate(QUICK)
    told = await_rollback(service, seen, ONE)
    assert "network buffers" in told
    assert any("Insufficient number of network buffers" in text for text in failures(cluster, job_id))

    assert await_cycles(service, "lab/narrow") <= {"RolledBack", "NotStable", "Stabilizing", "RescaleInFlight"}
    (taken_back,) = service.lines("Rollback")
    assert is_back(service)
    bounds = service.state("lab/narrow").bounds
    assert {bound.side for bound in bounds} == {Side.BELOW}
    tried = {f"{bound.vertex} {bound.well} -> {bound.parallelism}" for bound in bounds}
    assert tried == set(taken_back["vertices"].split(", "))
    assert not service.lines("AutoscalerError")
    service.stop()
    assert_nothing_lost(cluster, job_id, spec)


@narrow
def test_headgate_that_is_killed_between_rescale_and_verdict_takes_it_back(
    cluster: LocalCluster, run_job: RunJob, run_headgate_process: RunHeadgateProcess
) -> None:
    """The next one has never seen the job run: what the first has saved is enough."""
    spec, options = two_stages("torn", 300), {**QUICK, "lease.duration": "2 s"}
    job_id = run_job(spec, 1)
    seen = ObservedJob(cluster.url, job_id, spec)
    first = run_headgate_process(options)
    first.until(lambda: scaled_up(first), limit=LIMIT)
    first.kill()
    assert not first.lines("Rollback")
    second = run_headgate_process(options)
    assert "network buffers" in await_rollback(second, seen, ONE)
    assert is_back(second)


@narrow
def test_a_bad_parallelism_of_the_owners_own_is_not_touched(
    cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate
) -> None:
    """The job is no less sick than after a rescale of Headgate's; it is left to whoever did that."""
    spec = two_stages("owned", 33)
    job_id = run_job(spec, 1)
    service = run_headgate(QUICK)
    service.until(lambda: bool(service.lines("JobAppeared", "lab/owned")), limit=LIMIT)
    require(cluster, job_id, NEEDED)
    service.until(lambda: len(failures(cluster, job_id)) >= FURTHER_CYCLES, limit=LIMIT)
    await_cycles(service, "lab/owned")
    assert required(cluster, job_id) == [SICK, SICK, 1, 1]
    assert not service.lines("Rollback")
    assert not service.lines("Scaling")


@narrow
async def test_a_redeploy_takes_a_job_back_that_no_savepoint_can_be_taken_of(
    cluster: LocalCluster, run_job: RunJob, jar: Path
) -> None:
    """It is cancelled, and started from its last checkpoint: nothing is done twice, and nothing is left out."""
    spec = two_stages("stuck", 33)
    sick = run_job(spec, 1)
    await asyncio.to_thread(until, lambda: checkpoint(cluster, sick) is not None)
    require(cluster, sick, NEEDED)
    await asyncio.to_thread(until, lambda: len(failures(cluster, sick)) >= 2)
    last, well = checkpoint(cluster, sick), successor_of(sick)
    start = Start(parallelism=1)
    launch = Launch(jar=str(jar), entry_class=ENTRY_CLASS, args=tuple(spec.arguments()), parallelism=1)
    redeploy = Redeploy(launch=launch, successor=well, after=start, before=start)
    now, vertices = datetime.now(UTC), call_json(f"{cluster.url}/jobs/{sick}/plan")["plan"]["nodes"]
    intent = Intent(
        decision_id="b" * 12,
        decided_at=now,
        job_id=sick,
        fingerprint="",
        before={vertex["id"]: SICK for vertex in vertices},
        after={vertex["id"]: 1 for vertex in vertices},
        deadline=now + LIMIT,
        redeploy=redeploy,
        takes_back="a" * 12,
    )
    key = JobKey("lab", "stuck")
    ctx = JobContext(key=key, job_id=sick, status=JobStatus.RESTARTING, options=AutoscalerOptions(), intent=intent)
    async with FlinkClient(ClusterOptions(name="lab", url=cluster.url)) as client:
        realizer = SavepointRedeployRealizer({"lab": client})
        await realizer.realize_parallelism_overrides(ctx, intent.after)
        await asyncio.to_thread(until, lambda: state_of(cluster, well) == "RUNNING")
        await realizer.close()
    assert state_of(cluster, sick) == "CANCELED"
    restored = call_json(f"{cluster.url}/jobs/{well}/checkpoints")["latest"]["restored"]
    assert restored["external_path"] == last
    await asyncio.to_thread(assert_nothing_lost, cluster, well, spec)


def checkpoint(cluster: LocalCluster, job_id: str) -> str | None:
    """Return where the last completed checkpoint of a job is; None while Flink tells of none."""
    latest: Any = call_json(f"{cluster.url}/jobs/{job_id}/checkpoints")["latest"].get("completed")
    return str(latest["external_path"]) if latest else None


def state_of(cluster: LocalCluster, job_id: str) -> str | None:
    """Return what Flink calls the state of a job; None where it knows none of that id."""
    listed = call_json(f"{cluster.url}/jobs/overview")["jobs"]
    return next((job["state"] for job in listed if job["jid"] == job_id), None)


@bare
@pytest.mark.long
def test_memory_is_raised_instead_where_headgate_starts_the_workers(
    cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate
) -> None:
    """The TaskManager is replaced by one with more network memory, and the job runs at what its load asks for."""
    workers = {"provider": "this-machine", "min": 1, "max": 1}
    service = run_headgate(
        {
            **QUICK,
            "clusters": [{"name": "lab", "url": cluster.url, "workers": workers}],
            "headgate.plugins.this-machine": {"class": "local-processes", "directory": str(cluster.directory)},
            "job.autoscaler.memory.tuning.enabled": True,
        }
    )
    service.until(lambda: call_json(f"{cluster.url}/overview")["slots-total"] == SICK, limit=LIMIT)
    spec = two_stages("richer", 300)
    job_id = run_job(spec, 1)
    seen = ObservedJob(cluster.url, job_id, spec)
    service.until(lambda: bool(service.lines("MemoryRaised", "lab/richer")), limit=LIMIT)
    await_running(service, seen, NEEDED)
    assert network_bytes(cluster) > 256 * 1024
    assert not service.lines("Rollback")
    service.stop()
    assert_nothing_lost(cluster, job_id, spec)


def network_bytes(cluster: LocalCluster) -> int:
    """Return the network memory of the only TaskManager that lives."""
    listed = call_json(f"{cluster.url}/taskmanagers")["taskmanagers"]
    return max(int(each["memoryConfiguration"]["networkMemory"]) for each in listed)


def heavy(name: str) -> LoadJobSpec:
    """Make a job with 60 MB of state, one subtask of which is 50 % busy, and makes a gigabyte of garbage a second."""
    return LoadJobSpec(
        stages=(Stage(name="work", cost_us=1000, keyed=True),),
        profile=ConstantProfile(per_s=500),
        epoch=datetime.now(UTC),
        name=name,
        state_keys=6000,
        state_bytes=10_000,
        garbage_bytes=2_000_000,
    )


def only_work(cluster: LocalCluster, job_id: str) -> Mapping[str, object]:
    """Give the option by which a stage alone is scaled: everything at once, and no second rescale for the rest."""
    vertices = call_json(f"{cluster.url}/jobs/{job_id}")["vertices"]
    return {"job.autoscaler.vertex.exclude.ids": [each["id"] for each in vertices if each["name"] != "work"]}


@pytest.mark.long
@tight
def test_a_job_that_is_shrunk_until_its_state_fills_a_heap_goes_back(
    cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate
) -> None:
    """Its load fits one subtask, its state does not: with 60 MB of 128 it collects garbage most of the time."""
    spec = heavy("heavy")
    job_id = run_job(spec, 2)
    seen = ObservedJob(cluster.url, job_id, spec)
    service = run_headgate({**QUICK, **TOUCHY, **only_work(cluster, job_id)})
    told = await_rollback(service, seen, TWO)
    assert "checker memory-pressure: time in garbage collection" in told
    bounds = {bound.parallelism: bound.side for bound in service.state("lab/heavy").bounds}
    assert bounds == {1: Side.ABOVE}
    service.stop()
    assert_nothing_lost(cluster, job_id, spec)


@pytest.mark.long
@fixed
def test_a_redeploy_after_which_the_state_fills_a_heap_is_taken_back_by_another(
    cluster: LocalCluster, run_job: RunJob, run_headgate: RunHeadgate, jar: Path
) -> None:
    """The sick job runs, so it is stopped with a savepoint, as the well one was."""
    spec = heavy("moved")
    first = run_job(spec, 2)
    sick = successor_of(first)
    well = successor_of(sick)
    launch = {"jar": str(jar), "entry-class": ENTRY_CLASS, "args": spec.arguments(), "parallelism": 2}
    redeploys = {"match": "lab/moved", "job.autoscaler": {"scaling.realizer.class": "savepoint-redeploy"}}
    service = run_headgate({**QUICK, **TOUCHY, "jobs": [{**redeploys, "launch": launch}]})
    told = await_rollback(service, ObservedJob(cluster.url, well, spec), TWO)
    assert "checker memory-pressure: time in garbage collection" in told
    assert [state_of(cluster, job) for job in (first, sick)] == ["FINISHED", "FINISHED"]
    service.stop()
    assert_nothing_lost(cluster, well, spec)
