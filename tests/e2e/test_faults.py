"""
What goes wrong on one job or one cluster is told once, clearly, and the other jobs are looked after as before.

The whole service as `headgate run` wires it, against a fake Flink whose clock and the service's move together.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.control.runner import Runner
from headgate.engines.flink.local.loopback import free_ports
from headgate.model.decision import Decision, Outcome
from headgate.model.events import Event, EventReason
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, LogOptions, Mode, Pipeline, ServiceOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain
from headgate.testing.fakes import RecordingEvents
from headgate.testing.faults import Fault, FaultKind
from headgate.wiring import service

TICK_S = 10.0
WINDOW_TICKS = 6
"""Until a job is decided on: for most of a window of a minute as much has come in."""

GOOD, BAD = JobKey("lab", "good"), JobKey("lab", "bad")


def job(number: int, name: str) -> FakeJob:
    """Make a job of three vertices that needs more than it has: 1,500 records/s come, each vertex does 1,000."""
    made = chain(job_id=f"{number:032x}", name=name, vertices=3, rate=1_500)
    made.vertices[0].partitions = None  # it reads no Kafka, whose brokers would be told of
    return made


def clusters(urls: Mapping[str, str]) -> tuple[ClusterOptions, ...]:
    """Name the clusters; a request may take a second, which a healthy answer stays below on a busy machine as well."""
    limit = timedelta(seconds=1)
    return tuple(ClusterOptions(name=name, url=url, request_timeout=limit) for name, url in urls.items())


class Fleet:
    """
    The service, the clusters it looks after, and their common time.

    Attributes:
        events: what it told.
    """

    def __init__(self, runner: Runner, servers: Sequence[FakeFlink], events: RecordingEvents) -> None:
        """Begin before the first tick."""
        self.events = events
        self.runner = runner
        self._servers = servers

    @property
    def now(self) -> datetime:
        """The clusters' time, which is the service's."""
        return datetime.fromtimestamp(self._servers[0].now_ms / 1000, UTC)

    async def observe(self) -> None:
        """Let time pass and the collector tick once."""
        for server in self._servers:
            server.advance(TICK_S)
        await self.runner.observe(self.now)

    async def decide(self) -> Mapping[JobKey, Decision]:
        """Let one cycle decide on what was observed."""
        decisions = await self.runner.decide(self.now)
        return {decision.job: decision for decision in decisions}

    async def tick(self, times: int = 1) -> list[Mapping[JobKey, Decision]]:
        """Observe and decide."""
        told = []
        for _ in range(times):
            await self.observe()
            told.append(await self.decide())
        return told

    def told(self, subject: JobKey | str) -> list[EventReason]:
        """Return what the events about a job or cluster say, in order."""
        return [event.reason for event in self.about(subject)]

    def about(self, subject: JobKey | str) -> list[Event]:
        """Return the events about a job or cluster, in order."""
        return [event for event in self.events.told if event.subject == subject]


@asynccontextmanager
async def running(servers: Mapping[str, FakeFlink], tmp_path: Path, *, port: int = 0) -> AsyncIterator[Fleet]:
    """Run the service over clusters; a server that has not started yet is expected at the port."""
    urls = {name: server.url or f"http://127.0.0.1:{port}" for name, server in servers.items()}
    options = ServiceOptions(
        clusters=clusters(urls),
        mode=Mode.ACT,
        pipeline=Pipeline.IN_PROCESS,
        state_store=f"sqlite:///{tmp_path / 'state.db'}",
        log=LogOptions(path=str(tmp_path / "samples")),
        autoscaler=AutoscalerOptions(metrics_window=timedelta(minutes=1), stabilization_interval=timedelta()),
    )
    events = RecordingEvents()
    async with service(options, events=events) as runner:
        yield Fleet(runner, list(servers.values()), events)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    """Close what a test opened."""
    async with AsyncExitStack() as opened:
        yield opened


def rescaled(decided: Sequence[Mapping[JobKey, Decision]], key: JobKey) -> bool:
    """Tell whether a job was rescaled in any of the cycles."""
    return any(key in cycle and cycle[key].acts for cycle in decided)


async def test_a_cluster_that_comes_later_is_looked_after_from_then_on(tmp_path: Path, stack: AsyncExitStack) -> None:
    """One event says that it does not answer, one that it does; the other cluster's jobs never wait."""
    here = await stack.enter_async_context(FakeFlink([job(1, "good")]))
    late = FakeFlink([job(2, "bad")])
    (port,) = free_ports(1)
    fleet = await stack.enter_async_context(running({"lab": here, "late": late}, tmp_path, port=port))
    assert rescaled(await fleet.tick(WINDOW_TICKS + 1), GOOD)
    (unreachable,) = fleet.about("late")
    assert unreachable.reason is EventReason.CLUSTER_UNREACHABLE
    assert f"127.0.0.1:{port}" in unreachable.message

    await late.start(port)
    stack.push_async_exit(late)
    decided = await fleet.tick(WINDOW_TICKS + 1)
    assert fleet.told("late") == [EventReason.CLUSTER_UNREACHABLE, EventReason.CLUSTER_REACHABLE]
    assert rescaled(decided, JobKey("late", "bad"))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        pytest.param(Fault(text="out of metaspace"), "was answered 500: out of metaspace", id="500"),
        pytest.param(Fault(kind=FaultKind.HANG), "was not answered within 1 s", id="hanging"),
        pytest.param(Fault(kind=FaultKind.GARBLE), "gave an answer that is not understood", id="invalid JSON"),
        pytest.param(Fault(kind=FaultKind.RESET), "failed: ", id="broken connection"),
    ],
)
async def test_a_job_that_cannot_be_read_is_one_event_and_the_other_is_rescaled(
    fault: Fault, says: str, tmp_path: Path, stack: AsyncExitStack
) -> None:
    """The event names the call and what came of it; every cycle says that the job is out of reach; then it is not."""
    good, bad = job(1, "good"), job(2, "bad")
    server = await stack.enter_async_context(FakeFlink([good, bad]))
    fleet = await stack.enter_async_context(running({"lab": server}, tmp_path))
    fault.path = f"/jobs/{bad.job_id}"
    server.plant(fault)

    decided = await fleet.tick(WINDOW_TICKS + 1)
    assert rescaled(decided, GOOD)
    assert {cycle[BAD].reason for cycle in decided} == {Reason.JOB_UNREACHABLE}
    appeared, error = sorted(fleet.about(BAD), key=lambda event: event.reason is EventReason.AUTOSCALER_ERROR)
    assert (appeared.reason, error.reason) == (EventReason.JOB_APPEARED, EventReason.AUTOSCALER_ERROR)
    assert f"cluster lab: GET /jobs/{bad.job_id}" in error.message
    assert says in error.message

    server.heal()
    assert rescaled(await fleet.tick(WINDOW_TICKS + 1), BAD)
    assert EventReason.AUTOSCALER_ERROR not in fleet.told(BAD)[2:]


async def test_a_cluster_that_hangs_is_one_event_and_keeps_its_jobs(tmp_path: Path, stack: AsyncExitStack) -> None:
    """Not seen is not gone: when the cluster answers again, no job has come or vanished."""
    here = await stack.enter_async_context(FakeFlink([job(1, "good")]))
    there = await stack.enter_async_context(FakeFlink([job(2, "bad")]))
    fleet = await stack.enter_async_context(running({"lab": here, "there": there}, tmp_path))
    await fleet.tick()
    there.plant(Fault(kind=FaultKind.HANG))
    decided = await fleet.tick(WINDOW_TICKS)
    assert rescaled(decided, GOOD)
    assert decided[-1][JobKey("there", "bad")].reason is Reason.JOB_UNREACHABLE
    there.heal()
    await fleet.tick()
    assert fleet.told("there") == [EventReason.CLUSTER_UNREACHABLE, EventReason.CLUSTER_REACHABLE]
    assert fleet.told(JobKey("there", "bad")) == [EventReason.JOB_APPEARED]


async def test_a_job_that_vanishes_while_it_is_decided_on_is_one_event(tmp_path: Path, stack: AsyncExitStack) -> None:
    """It is gone when it is to be rescaled: nothing is asked for, and the next tick says that it vanished."""
    bad = job(2, "bad")
    server = await stack.enter_async_context(FakeFlink([job(1, "good"), bad]))
    fleet = await stack.enter_async_context(running({"lab": server}, tmp_path))
    await fleet.tick(WINDOW_TICKS - 1)
    await fleet.observe()
    server.vanish(bad.job_id)
    decided = await fleet.decide()
    assert decided[GOOD].acts
    assert decided[BAD].outcome is Outcome.NOT_READY
    assert server.asked(f"{bad.job_id}/resource-requirements", "PUT") == 0

    (later,) = await fleet.tick()
    assert GOOD in later
    assert BAD not in later
    assert fleet.told(BAD) == [EventReason.JOB_APPEARED, EventReason.JOB_VANISHED]


async def test_a_job_that_vanishes_between_look_and_request_is_one_event(tmp_path: Path, stack: AsyncExitStack) -> None:
    """Gone even later, when the request is sent; a job of that name that comes after it starts afresh."""
    bad = job(2, "bad")
    server = await stack.enter_async_context(FakeFlink([job(1, "good"), bad]))
    fleet = await stack.enter_async_context(running({"lab": server}, tmp_path))
    await fleet.tick(WINDOW_TICKS - 1)
    await fleet.observe()
    gone = Fault(path=f"/jobs/{bad.job_id}/resource-requirements", status=404, text="Job not found")
    server.plant(gone)
    decided = await fleet.decide()
    assert decided[GOOD].acts
    assert not decided[BAD].acts
    server.vanish(bad.job_id)
    await fleet.tick()
    server.heal()
    server.add(job(3, "bad"))
    assert rescaled(await fleet.tick(WINDOW_TICKS + 1), BAD)
    told = fleet.told(BAD)
    assert EventReason.AUTOSCALER_ERROR not in told
    assert told.count(EventReason.JOB_VANISHED) == 1
    assert EventReason.INTENT_RECOVERED in told
    assert EventReason.RESCALE_NOT_REACHED not in told
