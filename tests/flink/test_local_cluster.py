"""The local cluster and the load job are what they say: loopback only, nothing left, known capacity, no loss."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
import pytest
from tests.flink.conftest import RunJob

from headgate.demo.loadjob import ConstantProfile, LoadJobSpec, Stage, StepProfile
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.loopback import call_json
from headgate.engines.flink.local.runtime import FlinkRuntime

pytestmark = pytest.mark.flink


class Job:
    """One job's REST resources, read by the operators' names."""

    def __init__(self, cluster: LocalCluster, job_id: str) -> None:
        """Look up the vertices."""
        self.url = f"{cluster.url}/jobs/{job_id}"
        self.vertices = {self._short(vertex): vertex["id"] for vertex in self._get("")["vertices"]}

    @staticmethod
    def _short(vertex: Mapping[str, str]) -> str:
        """Return an operator's own name: Flink says `Source: source` and `sink: Writer`."""
        return vertex["name"].removeprefix("Source: ").removesuffix(": Writer")

    def _get(self, path: str) -> Any:
        return call_json(f"{self.url}{path}")

    def parallelism(self) -> dict[str, int]:
        """Return the running parallelism of each operator."""
        return {self._short(vertex): vertex["parallelism"] for vertex in self._get("")["vertices"]}

    def inputs(self) -> dict[str, set[str]]:
        """Return what each operator reads, from the job's plan."""
        names = {vertex_id: name for name, vertex_id in self.vertices.items()}
        return {
            names[node["id"]]: {names[edge["id"]] for edge in node.get("inputs", [])}
            for node in self._get("/plan")["plan"]["nodes"]
        }

    def values(self, operator: str, *names: str) -> list[list[float]]:
        """Return each metric's values over the subtasks that have reported it, all from one answer."""
        path = f"/vertices/{self.vertices[operator]}/metrics"
        present = [each["id"] for each in self._get(path) if each["id"].split(".", 1)[1] in names]
        told = self._get(f"{path}?get={','.join(present)}") if present else []
        return [[float(each["value"]) for each in told if each["id"].split(".", 1)[1] == name] for name in names]

    def totals(self, operator: str, *names: str) -> list[float]:
        """Return each metric's sum over the subtasks."""
        return [sum(values) for values in self.values(operator, *names)]

    def checkpoints(self) -> int:
        """Return how many checkpoints were completed."""
        return int(self._get("/checkpoints")["counts"]["completed"])

    def rescale(self, parallelism: int) -> None:
        """Ask for the same parallelism of every operator."""
        bounds = {"parallelism": {"lowerBound": 1, "upperBound": parallelism}}
        body = json.dumps(dict.fromkeys(self.vertices.values(), bounds)).encode()
        call_json(
            f"{self.url}/resource-requirements",
            method="PUT",
            body=body,
            headers={"Content-Type": "application/json"},
        )


def until(reached: Callable[[], bool], limit_s: float = 20) -> None:
    """Wait for a condition; fail when it does not come."""
    deadline = time.monotonic() + limit_s
    while not reached():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def now() -> datetime:
    """Return the time as the load job's epoch takes it."""
    return datetime.now(UTC)


def listening_addresses(pid: int) -> set[str]:
    """Return the addresses at which a process accepts connections."""
    connections = psutil.Process(pid).net_connections(kind="inet")
    return {each.laddr.ip.removeprefix("::ffff:") for each in connections if each.status == "LISTEN"}


def test_the_graph_is_as_specified(cluster: LocalCluster, run_job: RunJob) -> None:
    """A fan-out and a join arrive in Flink as they were written, one vertex for each operator."""
    stages = (
        Stage(name="a", cost_us=100, inputs=("source",)),
        Stage(name="b", cost_us=100, keyed=True, inputs=("source",)),
        Stage(name="join", cost_us=100, keyed=True, inputs=("a", "b")),
        Stage(name="side", cost_us=100, inputs=("a",)),
    )
    spec = LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=100), epoch=now())
    job = Job(cluster, run_job(spec, 2))
    assert job.inputs() == {
        "source": set(),
        "a": {"source"},
        "b": {"source"},
        "join": {"a", "b"},
        "side": {"a"},
        "sink": {"join", "side"},
    }
    assert set(job.parallelism().values()) == {2}


@pytest.mark.long
def test_vertex_ids_stay_the_same_in_the_next_run(cluster: LocalCluster, run_job: RunJob) -> None:
    """History keyed by vertex id outlives a resubmission."""
    stages = (Stage(name="parse", cost_us=100), Stage(name="count", cost_us=100, keyed=True))
    spec = LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=10), epoch=now())
    first, second = (Job(cluster, run_job(spec, 1)).vertices for _ in range(2))
    assert first == second


@pytest.mark.long
def test_a_saturated_stage_has_its_nominal_capacity(cluster: LocalCluster, run_job: RunJob) -> None:
    """1000 us a record are 1000 rec/s, in records per wall time and per busy time, within 5 %."""
    stages = (Stage(name="work", cost_us=1000, keyed=True),)
    spec = LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=3000), epoch=now())
    job = Job(cluster, run_job(spec, 1))

    # All from one answer: the thread's own times, against which a late answer cannot count.
    names = ("numRecordsIn", "accumulateBusyTimeMs", "accumulateIdleTimeMs", "accumulateBackPressuredTimeMs")

    def counters() -> list[float]:
        return job.totals("work", *names)

    until(lambda: counters()[0] > 1000)
    samples = [counters()]
    for _ in range(10):
        time.sleep(0.5)
        samples.append(counters())
    records, busy_ms, idle_ms, blocked_ms = (last - first for first, last in zip(samples[0], samples[-1], strict=True))
    assert records / busy_ms * 1000 == pytest.approx(1000, rel=0.05)
    assert records / (busy_ms + idle_ms + blocked_ms) * 1000 == pytest.approx(1000, rel=0.05)


def test_a_rescale_loses_no_record(cluster: LocalCluster, run_job: RunJob) -> None:
    """
    The load ends after exactly 3000 records; what is emitted and what is pending add up to them.

    After the rescale the source goes on from where a checkpoint was, its splits spread over both readers.
    """
    profile = StepProfile(steps=((timedelta(), 1000.0), (timedelta(seconds=3), 0.0)))
    stages = (Stage(name="work", cost_us=4000, keyed=True),)
    spec = LoadJobSpec(stages=stages, profile=profile, epoch=now(), checkpoint_interval=timedelta(seconds=1))
    job = Job(cluster, run_job(spec, 1))

    def emitted_and_pending() -> list[float]:
        return job.totals("source", "Source__source.emittedRecords", "Source__source.pendingRecords")

    # While records flow, Flink reads one gauge a moment after the other, so only the end is exact.
    until(lambda: sum(emitted_and_pending()) == pytest.approx(3000, abs=50))
    (emitted_before, _), checkpoints_before = emitted_and_pending(), job.checkpoints()
    until(lambda: job.checkpoints() >= checkpoints_before + 2)
    assert 0 < emitted_before < 3000

    job.rescale(2)
    until(lambda: job.values("source", "Source__source.assignedSplits") == [[6, 6]])
    assert set(job.parallelism().values()) == {2}
    emitted_after, pending_after = emitted_and_pending()
    assert emitted_after >= emitted_before
    assert emitted_after + pending_after == pytest.approx(3000, abs=50)
    until(lambda: emitted_and_pending() == [3000, 0])


@pytest.mark.long
def test_a_cluster_listens_on_loopback_survives_losses_and_leaves_nothing(runtime: FlinkRuntime) -> None:
    """A TaskManager is added and killed, the JobManager is replaced at the same address, then all end."""
    with LocalCluster(task_managers=1, slots=1, runtime=runtime) as cluster:
        assert cluster.add_task_manager() == "taskmanager-1"
        assert call_json(f"{cluster.url}/overview")["slots-total"] == 2
        started = dict(cluster.pids)
        assert {address for pid in started.values() for address in listening_addresses(pid)} == {"127.0.0.1"}

        cluster.kill_task_manager(0)
        assert not psutil.pid_exists(started["taskmanager-0"])
        cluster.restart_job_manager()
        assert cluster.pids["jobmanager"] != started["jobmanager"]
        assert call_json(f"{cluster.url}/overview")["slots-total"] == 1
        started_later = dict(cluster.pids)
    cluster.close()
    assert not any(psutil.pid_exists(pid) for pid in {*started.values(), *started_later.values()})
    assert not cluster.directory.exists()
