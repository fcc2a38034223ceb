"""How large a job's state is, and how long it stood still: by few calls, from what Flink tells in several places."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.standstill import Checkpoints, read_checkpoints, read_last_start, read_stop
from headgate.model.measures import JobMeasure
from headgate.options.service import ClusterOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob
from headgate.testing.faults import Fault, FaultKind
from headgate.testing.watch import FlinkWatch

CHECKPOINTS = "/checkpoints"


@pytest.fixture
def watch(server: FakeFlink, client: FlinkClient, job: FakeJob) -> FlinkWatch:
    """Look at the job, which takes checkpoints."""
    job.checkpoint_interval_ms = 10_000
    return FlinkWatch(server, client, job)


def _checkpoint(number: int, acknowledged_ms: int, size: int = 5_000) -> dict[str, Any]:
    return {
        "id": number,
        "status": "COMPLETED",
        "is_savepoint": False,
        "latest_ack_timestamp": acknowledged_ms,
        "state_size": size,
    }


def _origin(number: int, *, savepoint: bool) -> dict[str, Any]:
    return {"id": number, "is_savepoint": savepoint}


def _tell(server: FakeFlink, job: FakeJob, *, restored: int | None, savepoint: bool = False, size: int = 5_000) -> None:
    """Let the job have taken checkpoint 7 just now, and have gone on from another one, or from a savepoint."""
    completed = _checkpoint(7, server.now_ms, size)
    origin = None if restored is None else _origin(restored, savepoint=savepoint)
    latest = {"completed": completed, "restored": origin}
    server.recorded[f"/jobs/{job.job_id}{CHECKPOINTS}"] = {"latest": latest, "history": [completed]}


def _start(server: FakeFlink, job: FakeJob, after_s: float) -> None:
    """Let the last task of each vertex run so long from now."""
    ran = server.now_ms + round(after_s * 1000)
    for vertex in job.vertices:
        subtasks = [{"timestamps": {"RUNNING": ran - 200}}, {"timestamps": {"RUNNING": ran}}]
        server.recorded[f"/jobs/{job.job_id}/vertices/{vertex.id}/subtasktimes"] = {"subtasks": subtasks}


def test_the_checkpoint_a_job_went_on_from_is_found_among_its_own(recorded: Callable[[str], Any]) -> None:
    """A job whose TaskManager was killed: as Flink 2.3 answered."""
    told = read_checkpoints(recorded("job_checkpoints_after_tm_kill"))

    assert told == Checkpoints(state_bytes=1_045_708, restored_ms=1_795_171_601_944, inherited=False)


def test_what_was_taken_over_is_told_apart() -> None:
    """A savepoint, and a checkpoint of another job, say nothing of when this one's last run ended."""
    own = [_checkpoint(7, 1_000)]
    told = read_checkpoints({"latest": {"completed": own[0], "restored": _origin(7, savepoint=True)}, "history": own})
    assert told == Checkpoints(state_bytes=5_000, restored_ms=None, inherited=True)
    told = read_checkpoints({"latest": {"restored": _origin(3, savepoint=False)}, "history": []})
    assert told == Checkpoints(state_bytes=None, restored_ms=None, inherited=True)
    assert read_checkpoints({"latest": {}}) == Checkpoints(state_bytes=None, restored_ms=None, inherited=False)


def test_the_last_subtask_counts(recorded: Callable[[str], Any]) -> None:
    """The job had been called RUNNING 0.4 s before, while its tasks were still loading."""
    assert read_last_start(recorded("vertex_agg_subtasktimes")) == 1_795_171_466_877


def test_a_checkpoint_that_left_the_history_was_the_jobs_own() -> None:
    """Flink lists the latest ten: that nobody knows when it was complete does not make it another job's."""
    own = [_checkpoint(17, 1_000)]
    told = read_checkpoints({"latest": {"completed": own[0], "restored": _origin(3, savepoint=False)}, "history": own})
    assert told == Checkpoints(state_bytes=5_000, restored_ms=None, inherited=False)


def test_only_a_savepoint_to_stop_with_ends_the_work() -> None:
    """With any other one the job goes on."""
    stopped = {"checkpoint_type": "SYNC_SAVEPOINT", "trigger_timestamp": 1_000}
    assert read_stop({"latest": {"savepoint": stopped}}) == 1_000
    assert read_stop({"latest": {"savepoint": {**stopped, "checkpoint_type": "SAVEPOINT"}}}) is None
    assert read_stop({"latest": {"savepoint": None}}) is None


async def test_the_state_is_asked_for_once_a_minute(watch: FlinkWatch, server: FakeFlink, job: FakeJob) -> None:
    """And known in between."""
    _tell(server, job, restored=None)
    samples = [await watch.sample(10) for _ in range(19)]

    assert 3 <= server.asked(CHECKPOINTS) <= 4
    assert samples[-1].values[JobMeasure.STATE_SIZE] == 5_000
    assert JobMeasure.LAST_DOWNTIME not in samples[-1].values


async def test_a_job_that_takes_no_checkpoints_is_not_asked_for_them(
    watch: FlinkWatch, server: FakeFlink, job: FakeJob
) -> None:
    """But once, where it has just been started: it may have come from a savepoint."""
    job.checkpoint_interval_ms = None
    for _ in range(20):
        await watch.sample(10)

    assert server.asked(CHECKPOINTS) == 1


async def test_a_restart_lasts_from_its_checkpoint_until_the_last_task_runs(
    watch: FlinkWatch, server: FakeFlink, job: FakeJob
) -> None:
    """It is known from then on, and not asked for again."""
    await watch.sample()
    _tell(server, job, restored=7, size=9_000)
    _start(server, job, 3.5)
    server.advance(4)
    job.start(server.now_ms)
    first, second = await watch.sample(6), await watch.sample(10)

    for each in (first, second):
        assert each.values[JobMeasure.LAST_DOWNTIME] == pytest.approx(3.5)
        assert each.values[JobMeasure.STATE_SIZE] == 9_000
    assert server.asked("/subtasktimes") == len(job.vertices)


@pytest.mark.parametrize(("savepoint_s", "expected_s"), [(8.0, 11.0), (None, 3.0)], ids=["savepoint", "none known"])
async def test_a_job_of_another_id_stood_still_since_the_one_before_began_its_savepoint(
    watch: FlinkWatch, server: FakeFlink, job: FakeJob, savepoint_s: float | None, expected_s: float
) -> None:
    """While that is written nothing comes out; where it is not told, since the end of the one before."""
    ended = {"jid": "b" * 32, "name": job.name, "state": "FINISHED", "start-time": 1, "end-time": server.now_ms - 2_000}
    stranger = {**ended, "jid": "c" * 32, "name": "stranger", "end-time": server.now_ms}
    server.recorded["/jobs/overview"] = {"jobs": [{**each, "tasks": {}} for each in (ended, stranger)]}
    if savepoint_s is not None:
        begun_ms = server.now_ms - round((2.0 + savepoint_s) * 1000)
        stopped = {"checkpoint_type": "SYNC_SAVEPOINT", "trigger_timestamp": begun_ms}
        server.recorded[f"/jobs/{ended['jid']}{CHECKPOINTS}"] = {"latest": {"savepoint": stopped}}
    _tell(server, job, restored=1, savepoint=True)
    _start(server, job, 1.0)

    assert (await watch.sample()).values[JobMeasure.LAST_DOWNTIME] == pytest.approx(expected_s)


async def test_what_cannot_be_had_is_absent(watch: FlinkWatch, server: FakeFlink, job: FakeJob) -> None:
    """The tasks' times are not told: the sample is one all the same."""
    await watch.sample()
    _tell(server, job, restored=7)
    server.advance(4)
    job.start(server.now_ms)

    values = (await watch.sample()).values
    assert JobMeasure.LAST_DOWNTIME not in values
    assert values[JobMeasure.STATE_SIZE] == 5_000


class CountingClient(FlinkClient):
    """Knows how many of its calls are under way."""

    under_way = 0

    async def get(self, path: str, read: Callable[[Any], Any]) -> Any:
        """Ask."""
        self.under_way += 1
        try:
            return await super().get(path, read)
        finally:
            self.under_way -= 1


async def test_no_call_goes_on_when_another_one_has_failed(server: FakeFlink, job: FakeJob) -> None:
    """Of two vertices one is unknown at once, the other never answers: both calls are over with the sample."""
    options = ClusterOptions(name="fake", url=server.url, request_timeout=timedelta(milliseconds=500))
    async with CountingClient(options) as client:
        watch = FlinkWatch(server, client, job)
        await watch.sample()
        _tell(server, job, restored=7)
        server.advance(4)
        job.start(server.now_ms)
        server.plant(Fault(path=f"*/{job.vertices[1].id}/subtasktimes", kind=FaultKind.HANG))

        assert JobMeasure.LAST_DOWNTIME not in (await watch.sample()).values
        assert server.asked("/subtasktimes") == len(job.vertices)
        assert client.under_way == 0
