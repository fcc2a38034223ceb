"""
A real Flink whose scheduler cannot rescale in place: jobs are replaced, parallelism and configuration in one go.

What ran is counted by Flink's own list of jobs. The load job's source counts what it ever emitted, across restarts.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.flink.conftest import RunJob, by_default_scheduler

from headgate.demo.loadjob import ENTRY_CLASS, LoadJobSpec
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.model.events import EventReason
from headgate.model.redeploy import Launch
from headgate.stores.memory import MemoryStateStore
from headgate.stores.opening import open_store
from headgate.testing.load_jobs import two_stages
from headgate.testing.redeploying import RedeployingService, job_key

pytestmark = pytest.mark.flink

LIMIT = timedelta(seconds=60)
PATIENCE = timedelta(seconds=10)
"""Within which a job that is left alone would have been disturbed."""
WHOLE_JOB = {"Source: source": 3, "a": 3, "b": 3, "sink: Writer": 3}
BY_VERTEX = {"Source: source": 1, "a": 2, "b": 3, "sink: Writer": 1}


class Observed:
    """The jobs of one name, by Flink's own word."""

    def __init__(self, cluster: LocalCluster, name: str) -> None:
        """Look at nothing yet."""
        self._url, self._name = cluster.url, name

    def jobs(self) -> list[tuple[str, str]]:
        """Return id and state of each job that was ever started under the name, in order."""
        listed = [job for job in self._ask("/jobs/overview")["jobs"] if job["name"] == self._name]
        return [(job["jid"], job["state"]) for job in sorted(listed, key=lambda job: int(job["start-time"]))]

    def states(self) -> list[str]:
        """Return the state of each, in order."""
        return [state for _, state in self.jobs()]

    def running(self) -> str:
        """Return the id of the one that runs."""
        (job_id,) = [job_id for job_id, state in self.jobs() if state == "RUNNING"]
        return job_id

    def parallelism(self, job_id: str) -> Mapping[str, int]:
        """Return the parallelism of each vertex."""
        return {vertex["name"]: vertex["parallelism"] for vertex in self._ask(f"/jobs/{job_id}")["vertices"]}

    def checkpoint_interval_s(self, job_id: str) -> float:
        """Return what the job runs with."""
        return float(self._ask(f"/jobs/{job_id}/checkpoints/config")["interval"]) / 1000

    def restarts(self, job_id: str) -> int:
        """Return how often the job began anew from a checkpoint or a savepoint, its start included."""
        return int(self._ask(f"/jobs/{job_id}/checkpoints")["counts"]["restored"])

    def written(self, job_id: str) -> int:
        """Return how many records the source of one job wrote, by Flink's count, which begins anew with each job."""
        (source,) = [v for v in self._ask(f"/jobs/{job_id}")["vertices"] if v["name"].startswith("Source")]
        return int(source["metrics"]["write-records"])

    def read(self, job_id: str) -> int:
        """Return how many records the first stage read."""
        (stage,) = [v for v in self._ask(f"/jobs/{job_id}")["vertices"] if v["name"] == "a"]
        return int(stage["metrics"]["read-records"])

    def emitted(self, job_id: str) -> int:
        """Return the position of the source: all records ever emitted, over all jobs that went on from each other."""
        (source,) = [v for v in self._ask(f"/jobs/{job_id}")["vertices"] if v["name"].startswith("Source")]
        metric = "Source__source.emittedRecords"
        found = self._ask(f"/jobs/{job_id}/vertices/{source['id']}/subtasks/metrics?agg=sum&get={metric}")
        return int(float(found[0]["sum"])) if found else -1

    def _ask(self, path: str) -> Any:
        return call_json(f"{self._url}{path}")


@pytest.fixture
def launch(jar: Path) -> Callable[[LoadJobSpec], Launch]:
    """Return the launch spec of a load job that was started with a parallelism of 1."""
    return lambda spec: Launch(jar=str(jar), entry_class=ENTRY_CLASS, args=tuple(spec.arguments()), parallelism=1)


@pytest.fixture
def ending(cluster: LocalCluster) -> Iterator[None]:
    """End whatever runs on the cluster after the test."""
    yield
    for job in call_json(f"{cluster.url}/jobs/overview")["jobs"]:
        if job["state"] in {"RUNNING", "CREATED", "RESTARTING"}:
            call_json(f"{cluster.url}/jobs/{job['jid']}?mode=cancel", method="PATCH")


@asynccontextmanager
async def service(cluster: LocalCluster, launch: Launch | None, **parts: Any) -> AsyncIterator[RedeployingService]:
    """Run the control side beside the cluster."""
    async with RedeployingService(cluster.url, launch, **parts) as running:
        yield running


@by_default_scheduler
@pytest.mark.usefixtures("ending")
async def test_parallelism_and_checkpoint_interval_change_in_one_interruption(
    cluster: LocalCluster, run_job: RunJob, launch: Callable[[LoadJobSpec], Launch]
) -> None:
    """One job ends, one begins: with the largest parallelism wanted for all, the interval, and every record."""
    spec = two_stages("both")
    old, seen = run_job(spec, 1), Observed(cluster, "both")
    async with service(cluster, launch(spec)) as headgate:
        await headgate.order("both", {"a": 2, "b": 3}, {"execution.checkpointing.interval": "7 s"})
        await headgate.until(lambda: EventReason.RESCALE_REACHED in headgate.events.reasons, LIMIT)
        await headgate.going_on(PATIENCE)
        state = headgate.state("both")
    assert seen.states() == ["FINISHED", "RUNNING"]
    new = seen.running()
    assert seen.parallelism(new) == WHOLE_JOB
    assert seen.checkpoint_interval_s(new) == 7.0
    assert seen.restarts(new) == 1
    # Not one record was in flight when the old job ended, and the new one began right there: to what Flink's two
    # counts of the new one may be apart, which are read one after the other, one second's records.
    assert seen.read(old) == seen.written(old)
    assert seen.emitted(new) - seen.written(new) == pytest.approx(seen.written(old), abs=500)
    assert (state.intent, state.job_wide) == (None, 3)
    assert state.overlay.overrides == {"execution.checkpointing.interval": "7 s"}


@by_default_scheduler
@pytest.mark.usefixtures("ending")
async def test_a_later_redeploy_keeps_the_configuration_of_the_one_before(
    cluster: LocalCluster, run_job: RunJob, launch: Callable[[LoadJobSpec], Launch]
) -> None:
    """And a change of the configuration alone is one redeploy as well."""
    spec = two_stages("again")
    run_job(spec, 1)
    seen = Observed(cluster, "again")
    async with service(cluster, launch(spec)) as headgate:
        await headgate.order("again", {}, {"execution.checkpointing.interval": "5 s"})
        await headgate.until(lambda: headgate.events.reasons.count(EventReason.RESCALE_REACHED) == 1, LIMIT)
        assert seen.parallelism(seen.running())["b"] == 1
        await headgate.order("again", {"b": 2}, {"execution.checkpointing.unaligned.enabled": "true"})
        await headgate.until(lambda: headgate.events.reasons.count(EventReason.RESCALE_REACHED) == 2, LIMIT)
    assert seen.states() == ["FINISHED", "FINISHED", "RUNNING"]
    assert seen.parallelism(seen.running())["b"] == 2
    assert seen.checkpoint_interval_s(seen.running()) == 5.0


@by_default_scheduler
@pytest.mark.usefixtures("ending")
async def test_a_savepoint_that_fails_leaves_the_job_running(
    cluster: LocalCluster, run_job: RunJob, launch: Callable[[LoadJobSpec], Launch]
) -> None:
    """The change is refused with Flink's own reason, and remembered."""
    spec = two_stages("nowhere")
    old, seen = run_job(spec, 1), Observed(cluster, "nowhere")
    broken = replace(launch(spec), savepoint_directory="file:///proc/nowhere")
    async with service(cluster, broken) as headgate:
        await headgate.order("nowhere", {"b": 3})
        await headgate.until(lambda: EventReason.RESCALE_NOT_REACHED in headgate.events.reasons, LIMIT)
        state = headgate.state("nowhere")
    assert seen.jobs() == [(old, "RUNNING")]
    assert state.intent is None
    assert "the savepoint failed, and the job goes on" in state.rejections[0].why
    assert not state.history


@by_default_scheduler
@pytest.mark.usefixtures("ending")
async def test_a_start_that_fails_goes_back_to_how_the_job_ran(
    cluster: LocalCluster, run_job: RunJob, launch: Callable[[LoadJobSpec], Launch]
) -> None:
    """Flink takes the job, and then fails to make its state backend: the job runs again from the savepoint."""
    spec = two_stages("back")
    old, seen = run_job(spec, 1), Observed(cluster, "back")
    async with service(cluster, launch(spec)) as headgate:
        await headgate.order("back", {"b": 3}, {"state.backend.type": "no.such.Backend"})
        await headgate.until(lambda: EventReason.RESCALE_NOT_REACHED in headgate.events.reasons, LIMIT)
        state = headgate.state("back")
    ended, failed, running = seen.jobs()
    assert (ended, failed[1], running[1]) == ((old, "FINISHED"), "FAILED", "RUNNING")
    assert set(seen.parallelism(running[0]).values()) == {1}
    assert seen.restarts(running[0]) == 1
    assert "taken back to how it ran before" in state.rejections[0].why
    assert not state.overlay


@by_default_scheduler
@pytest.mark.usefixtures("ending")
async def test_a_start_that_finds_no_slots_in_time_goes_back(
    cluster: LocalCluster, run_job: RunJob, launch: Callable[[LoadJobSpec], Launch]
) -> None:
    """Nine subtasks do not fit eight slots: what waits for them is cancelled, and the job runs as before."""
    spec = two_stages("wide")
    run_job(spec, 1)
    seen = Observed(cluster, "wide")
    async with service(cluster, replace(launch(spec), start_limit=timedelta(seconds=8))) as headgate:
        await headgate.order("wide", {"b": 9})
        await headgate.until(lambda: EventReason.RESCALE_NOT_REACHED in headgate.events.reasons, LIMIT)
        state = headgate.state("wide")
    assert seen.states() == ["FINISHED", "CANCELED", "RUNNING"]
    assert "did not all run" in state.rejections[0].why


@by_default_scheduler
@pytest.mark.usefixtures("ending")
async def test_headgate_that_dies_between_stop_and_start_goes_on(
    cluster: LocalCluster, run_job: RunJob, launch: Callable[[LoadJobSpec], Launch]
) -> None:
    """Nothing of the job is listed as alive then; what was saved tells that there is something to start."""
    spec = two_stages("torn")
    old, seen = run_job(spec, 1), Observed(cluster, "torn")
    store = MemoryStateStore()
    async with service(cluster, launch(spec), store=store, dies_before="/run") as headgate:
        await headgate.order("torn", {"b": 3})
        await headgate.until(lambda: seen.jobs() == [(old, "FINISHED")], LIMIT)
    assert store.in_flight() == (job_key("torn"),)
    async with service(cluster, launch(spec), store=store) as headgate:
        await headgate.until(lambda: EventReason.RESCALE_REACHED in headgate.events.reasons, LIMIT)
        await headgate.going_on(timedelta(seconds=3))
    assert seen.states() == ["FINISHED", "RUNNING"]
    assert seen.parallelism(seen.running())["b"] == 3


@by_default_scheduler
@pytest.mark.usefixtures("ending")
async def test_a_job_that_headgate_submitted_needs_no_launch_spec_elsewhere(
    cluster: LocalCluster, jar: Path, tmp_path: Path
) -> None:
    """What it was started from is remembered in the state store."""
    spec, store = two_stages("mine"), f"sqlite:///{tmp_path / 'headgate.db'}"
    config = tmp_path / "headgate.yaml"
    config.write_text(f"clusters: [{{name: lab, url: '{cluster.url}'}}]\nstate-store: {store}\n", encoding="utf-8")
    arguments = [word for argument in spec.arguments() for word in ("--arg", argument)]
    command = ["submit", "lab/mine", "--config", str(config), "--jar", str(jar), "--entry-class", ENTRY_CLASS]
    submitting = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "headgate", *command, "--parallelism", "1", *arguments, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await submitting.communicate()
    seen = Observed(cluster, "mine")
    assert seen.jobs() == [(said.decode().strip(), "RUNNING")]
    async with service(cluster, None, store=open_store(store)) as headgate:
        await headgate.order("mine", {"b": 2})
        await headgate.until(lambda: EventReason.RESCALE_REACHED in headgate.events.reasons, LIMIT)
    assert seen.states() == ["FINISHED", "RUNNING"]
    assert set(seen.parallelism(seen.running()).values()) == {2}


@pytest.mark.usefixtures("ending")
async def test_the_adaptive_scheduler_gives_each_vertex_its_own_in_one_interruption(
    cluster: LocalCluster, run_job: RunJob, launch: Callable[[LoadJobSpec], Launch]
) -> None:
    """The requirements come in while the new job waits for its slots: so its configuration can change as well."""
    spec = two_stages("each")
    run_job(spec, 1)
    seen = Observed(cluster, "each")
    async with service(cluster, launch(spec)) as headgate:
        await headgate.order("each", {"a": 2, "b": 3}, {"execution.checkpointing.interval": "3 s"})
        await headgate.until(lambda: EventReason.RESCALE_REACHED in headgate.events.reasons, LIMIT)
    assert seen.states() == ["FINISHED", "RUNNING"]
    assert seen.parallelism(seen.running()) == BY_VERTEX
    assert seen.checkpoint_interval_s(seen.running()) == 3.0
    assert seen.restarts(seen.running()) == 1
