"""One Headgate looks after two session clusters and an application cluster; one of them dies, and only that is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.flink.conftest import RunJob

from headgate.control.runner import Runner, TickRun, Work
from headgate.demo.loadjob import ENTRY_CLASS, ConstantProfile, LoadJobSpec, Stage
from headgate.demo.submit import submit_job
from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.runtime import Application, FlinkRuntime
from headgate.model.events import Event, EventReason
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.options.service import ClusterOptions, LogOptions, Mode, Pipeline, ServiceOptions
from headgate.testing.fakes import RecordingEvents
from headgate.wiring import service

pytestmark = [pytest.mark.flink, pytest.mark.long]

STAYS, DIES, APPLICATION = JobKey("stays", "payments"), JobKey("dies", "clicks"), JobKey("application", "fraud")
LIMIT = timedelta(minutes=2)
RATE_PER_S = 150.0
COLLECT, DECIDE = timedelta(seconds=1), timedelta(seconds=2)
OF_A_RESCALE = [
    EventReason.JOB_APPEARED,
    EventReason.SCALING_REPORT,
    EventReason.SCALING,
    EventReason.RESCALE_REACHED,
]
TROUBLE = {EventReason.AUTOSCALER_ERROR, EventReason.RESCALE_NOT_REACHED, EventReason.JOB_VANISHED}

OPTIONS = AutoscalerOptions(
    metrics_window=timedelta(seconds=12),
    stabilization_interval=timedelta(seconds=4),
    restart_time=timedelta(seconds=5),
    busy_time_aggregator=BusyTimeAggregator.AVG,
)


def job_of(key: JobKey) -> LoadJobSpec:
    """Make a job whose one stage needs 2.4 subtasks to be 70 % busy, and begins with one."""
    stages = (Stage(name="work", cost_us=round(2.4 * 0.7 / RATE_PER_S * 1e6), keyed=True),)
    return LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=RATE_PER_S), epoch=datetime.now(UTC), name=key.name)


@pytest.fixture
def clusters(
    lab: LocalCluster,
    runtime: FlinkRuntime,
    jar: Path,
    run_job: RunJob,  # noqa: ARG001 - cancels what is left on the lab
) -> Iterator[dict[str, LocalCluster]]:
    """Run two clusters of one TaskManager beside the lab; the second one is its job's own."""
    application = Application(jar=jar, entry_class=ENTRY_CLASS, arguments=tuple(job_of(APPLICATION).arguments()))
    with (
        LocalCluster(runtime=runtime, task_managers=1, slots=4) as dies,
        LocalCluster(runtime=replace(runtime, application=application), task_managers=1, slots=4) as third,
    ):
        yield {STAYS.cluster: lab, DIES.cluster: dies, APPLICATION.cluster: third}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The running service: what it tells, and how punctual it is."""

    events: RecordingEvents
    wired: Runner
    ticks: list[TickRun] = field(default_factory=list)
    ticked: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, stop: asyncio.Event) -> None:
        """Tick until told to stop, and take note of every tick."""
        await replace(self.wired, on_tick=self.note).run(stop)

    def note(self, tick: TickRun) -> None:
        """Keep a tick that is over."""
        self.ticks.append(tick)
        self.ticked.set()

    def about(self, subject: JobKey | str) -> list[Event]:
        """Give the events about a job or cluster, in order."""
        return [event for event in self.events.told if event.subject == subject]

    def told(self, subject: JobKey | str) -> list[EventReason]:
        """Give what they are about."""
        return [event.reason for event in self.about(subject)]

    async def until(self, reached: Callable[[], bool]) -> None:
        """Let it run until a condition holds; fail with what it told if that takes too long."""
        try:
            async with asyncio.timeout(LIMIT.total_seconds()):
                while not reached():
                    self.ticked.clear()
                    await self.ticked.wait()
        except TimeoutError:
            pytest.fail("\n".join(f"{event.subject}: {event.reason}: {event.message}" for event in self.events.told))


@asynccontextmanager
async def running(clusters: dict[str, LocalCluster], folder: Path) -> AsyncIterator[Watched]:
    """Run the very service over the clusters, in this process."""
    limit = timedelta(seconds=2)
    options = ServiceOptions(
        clusters=tuple(
            ClusterOptions(name=name, url=cluster.url, request_timeout=limit) for name, cluster in clusters.items()
        ),
        mode=Mode.ACT,
        pipeline=Pipeline.IN_PROCESS,
        collect_interval=COLLECT,
        decide_interval=DECIDE,
        state_store=f"sqlite:///{folder / 'state.db'}",
        log=LogOptions(path=str(folder / "samples")),
        autoscaler=OPTIONS,
    )
    events, stop = RecordingEvents(), asyncio.Event()
    async with service(options, events=events) as wired, asyncio.TaskGroup() as tasks:
        headgate = Watched(events=events, wired=wired)
        tasks.create_task(headgate.run(stop))
        try:
            yield headgate
        finally:
            stop.set()


async def test_a_cluster_that_dies_is_told_and_the_others_are_rescaled(
    clusters: dict[str, LocalCluster], jar: Path, tmp_path: Path
) -> None:
    """One event says which cluster does not answer; its job is kept; the other two go on at their pace."""
    async with running(clusters, tmp_path) as headgate:
        for key in (STAYS, DIES):
            submit_job(clusters[key.cluster].url, jar, entry_class=ENTRY_CLASS, arguments=job_of(key).arguments())
        await headgate.until(lambda: {STAYS, DIES, APPLICATION} <= headgate.wired.latest.keys())
        clusters["dies"].kill_job_manager()
        before = len(headgate.ticks)
        await headgate.until(lambda: all(reached(headgate, key) for key in (STAYS, APPLICATION)))

        for key in (STAYS, APPLICATION):
            assert [reason for reason in headgate.told(key) if reason in OF_A_RESCALE][:4] == OF_A_RESCALE
            assert not TROUBLE & set(headgate.told(key))
        (unreachable,) = headgate.about("dies")
        assert unreachable.reason is EventReason.CLUSTER_UNREACHABLE
        assert clusters["dies"].url.removeprefix("http://") in unreachable.message
        assert headgate.told(DIES) == [EventReason.JOB_APPEARED]
        assert DIES in headgate.wired.latest
        assert_punctual(headgate.ticks[before:])


def reached(headgate: Watched, key: JobKey) -> bool:
    """Tell whether a job was rescaled and was seen so."""
    return EventReason.RESCALE_REACHED in headgate.told(key)


def assert_punctual(ticks: Sequence[TickRun]) -> None:
    """No tick failed, and a dead cluster held none up for as long as a request to it may take."""
    assert not [tick for tick in ticks if tick.failed]
    took = sorted(tick.took for tick in ticks if tick.work is Work.COLLECT)
    assert took[len(took) // 2] < COLLECT
