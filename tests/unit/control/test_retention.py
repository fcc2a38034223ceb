"""What leaves the state store by itself: jobs that are gone for long, and rescales of long ago."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headgate.control.observation import Observer
from headgate.control.retention import StateRetention
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.orders import Given, Orders
from headgate.model.state import JobState, ScalingRecord
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, START, chain, context, sample
from headgate.testing.fakes import FakeEngine, RecordingEvents, RecordingLog

KEEP, DAY = timedelta(days=30), timedelta(days=1)
RETURNS = JobKey("prod", "returns")
OLD = ScalingRecord(decision_id="d1", at=START, before={}, after={})


class Service:
    """One process that looks at its cluster, and forgets."""

    def __init__(self, store: MemoryStateStore, cluster: FakeEngine, name: str = "prod") -> None:
        """Know of no job yet."""
        self.events = RecordingEvents()
        self.observer = Observer(
            fetcher=cluster,
            collector=cluster,
            sink=RecordingLog(),
            events=RecordingEvents(),
            time_limit=timedelta(seconds=5),
            cluster=name,
        )
        self.others: set[JobKey] = set()
        self.forget = StateRetention(
            store=store,
            observers=[self.observer],
            looks_after=lambda job: job not in self.others,
            events=self.events,
            keep=lambda: KEEP,
        )

    async def pass_by(self, now: datetime) -> None:
        """Look, and forget."""
        await self.observer.observe(now)
        self.forget(now)


@pytest.fixture
def cluster() -> FakeEngine:
    """Give a cluster that lists one job."""
    cluster = FakeEngine()
    cluster.add(context(), sample(chain({"source": 1})))
    return cluster


@pytest.fixture
def store() -> MemoryStateStore:
    """Give a store that keeps that job and another one, which the cluster does not list."""
    store = MemoryStateStore()
    for job in (ORDERS, RETURNS):
        store.save(job, JobState(history=(OLD,)), 0)
    return store


async def test_a_job_that_is_gone_for_long_is_forgotten_with_its_history(
    store: MemoryStateStore, cluster: FakeEngine
) -> None:
    """Not before, and the one that is there stays; who did it is told once."""
    service = Service(store, cluster)
    await service.pass_by(START)
    assert store.kept() == {ORDERS: None, RETURNS: START}
    await service.pass_by(START + KEEP)
    assert set(store.kept()) == {ORDERS, RETURNS}
    await service.pass_by(START + KEEP + DAY)
    await service.pass_by(START + KEEP + 2 * DAY)
    assert store.kept() == {ORDERS: None}
    assert store.history(RETURNS, START) == ()
    (told,) = service.events.told
    assert (told.subject, told.reason) == (RETURNS, EventReason.JOB_VANISHED)
    assert "was gone for 30 d, see state.retention" in told.message


async def test_a_job_that_comes_back_begins_anew_to_be_gone(store: MemoryStateStore, cluster: FakeEngine) -> None:
    """Two short absences are no long one."""
    service = Service(store, cluster)
    await service.pass_by(START)
    cluster.contexts[RETURNS] = replace(context(), key=RETURNS, status=JobStatus.RESTARTING)
    await service.pass_by(START + DAY)
    assert store.kept()[RETURNS] is None
    del cluster.contexts[RETURNS]
    await service.pass_by(START + 2 * DAY)
    await service.pass_by(START + KEEP + DAY)
    assert store.kept()[RETURNS] == START + 2 * DAY


async def test_time_without_a_headgate_is_no_absence(store: MemoryStateStore, cluster: FakeEngine) -> None:
    """Nor that before the first look: a process that starts after a year forgets nothing at once."""
    service = Service(store, cluster)
    service.forget(START + 365 * DAY)
    assert store.kept()[RETURNS] is None
    await service.pass_by(START + 365 * DAY)
    assert store.kept()[RETURNS] == START + 365 * DAY


@pytest.mark.parametrize("failing", ["prod:a", "prod"], ids=["its cluster", "the manager of its cluster"])
async def test_what_cannot_be_seen_is_not_gone(cluster: FakeEngine, failing: str) -> None:
    """While its cluster does not answer; another one that does not answer is no hindrance."""
    store, known, neighbour = MemoryStateStore(), JobKey("prod:a", "x"), JobKey("prod:b", "x")
    for job in (known, neighbour):
        store.save(job, JobState(), 0)
    service = Service(store, cluster)
    cluster.failures = {failing: "no answer"}
    await service.pass_by(START)
    await service.pass_by(START + KEEP + DAY)
    expected = {known: None, neighbour: None} if failing == "prod" else {known: None}
    assert store.kept() == expected


async def test_jobs_of_clusters_that_nobody_looks_after_here_stay(store: MemoryStateStore, cluster: FakeEngine) -> None:
    """Another process may look after them; so may one that holds their shard."""
    elsewhere, alike = JobKey("staging", "orders"), JobKey("production", "orders")
    for job in (elsewhere, alike):
        store.save(job, JobState(), 0)
    service = Service(store, cluster)
    service.others = {RETURNS}
    await service.pass_by(START)
    assert store.kept() == dict.fromkeys([ORDERS, alike, RETURNS, elsewhere])


async def test_a_job_with_orders_stays_until_they_are_taken_back(store: MemoryStateStore, cluster: FakeEngine) -> None:
    """Whoever has paused it reckons with it."""
    service = Service(store, cluster)
    store.change_orders(RETURNS, lambda _: Orders(pause=Given(at=START, by="anna@host")))
    for day in (0, 40):
        await service.pass_by(START + day * DAY)
    assert RETURNS in store.kept()
    store.change_orders(RETURNS, lambda _: Orders())
    await service.pass_by(START + 41 * DAY)
    assert RETURNS not in store.kept()


async def test_rescales_of_long_ago_leave_the_history_of_a_job_that_runs(
    store: MemoryStateStore, cluster: FakeEngine
) -> None:
    """What decisions go by is in the state, and stays there."""
    service = Service(store, cluster)
    await service.pass_by(START + KEEP)
    assert store.history(ORDERS, START) == (OLD,)
    await service.pass_by(START + KEEP + DAY)
    assert store.history(ORDERS, START) == ()
    assert store.load(ORDERS).state.history == (OLD,)
