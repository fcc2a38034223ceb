"""Where several processes share a store, a job is opened, saved and acted on under one and the same lease."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headgate.control import reports
from headgate.control.leases import Leases, shard_of
from headgate.control.outbox import Outbox
from headgate.errors import ConflictError
from headgate.model.identity import VertexId
from headgate.model.state import DelayedScaleDown, JobState, Wish
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at
from headgate.testing.fakes import RecordingEvents

EVENT = reports.job_presence(ORDERS, appeared=True, why="is looked after from now on", now=at(0))
DURATION = timedelta(hours=1)
SHARDS = 4
WISHING = JobState(
    delayed={VertexId("agg"): DelayedScaleDown(first_at=at(0), wishes=(Wish(at=at(0), parallelism=1, outside=True),))}
)


@pytest.fixture
def store() -> MemoryStateStore:
    """Hold nothing yet."""
    return MemoryStateStore()


@pytest.fixture
def leases(store: MemoryStateStore) -> Leases:
    """Have every job."""
    leases = Leases(store, shards=SHARDS, duration=DURATION)
    leases.renew()
    return leases


@pytest.fixture
def outbox(store: MemoryStateStore, leases: Leases) -> Outbox:
    """Stand in front of the store."""
    return Outbox(store=store, events=RecordingEvents(), leases=leases)


def overtake(store: MemoryStateStore) -> None:
    """Let another process take the job and give it back, as while this one was frozen for long."""
    later = datetime.now(UTC) + DURATION
    lease = store.acquire(shard_of(ORDERS, SHARDS), f"host/bert/{SHARDS}", DURATION, now=later)
    assert lease
    store.release(lease)


async def test_a_job_of_ours_is_saved_and_acted_on(outbox: Outbox, store: MemoryStateStore) -> None:
    """A lease that is good is no obstacle."""
    assert outbox.looks_after(ORDERS)
    await outbox.save(ORDERS, await outbox.open(ORDERS), WISHING)
    assert store.load(ORDERS).state == WISHING
    assert await outbox.may_act(ORDERS)


async def test_without_leases_every_job_is_ours(store: MemoryStateStore) -> None:
    """One process alone, as in tests and in the simulator."""
    outbox = Outbox(store=store, events=RecordingEvents())
    assert outbox.looks_after(ORDERS)
    assert await outbox.may_act(ORDERS)


async def test_a_job_that_was_not_opened_is_not_acted_on(outbox: Outbox) -> None:
    """Nothing is known of it."""
    assert not await outbox.may_act(ORDERS)


async def test_a_job_that_was_taken_over_is_neither_saved_nor_acted_on(outbox: Outbox, store: MemoryStateStore) -> None:
    """Though its state is as it was: the other process may be about to change it."""
    held = await outbox.open(ORDERS)
    overtake(store)
    with pytest.raises(ConflictError, match="lease"):
        await outbox.save(ORDERS, held, WISHING)
    assert not await outbox.may_act(ORDERS)
    assert store.load(ORDERS).version == 0


async def test_a_later_lease_is_no_leave_for_what_was_decided_under_an_earlier_one(
    outbox: Outbox, store: MemoryStateStore, leases: Leases
) -> None:
    """The other process has come and gone: what it did is only known after the job was opened again."""
    held = await outbox.open(ORDERS)
    overtake(store)
    leases.renew()
    assert leases.lease_of(ORDERS)
    assert not await outbox.may_act(ORDERS)
    with pytest.raises(ConflictError):
        await outbox.save(ORDERS, held, WISHING)

    await outbox.save(ORDERS, await outbox.open(ORDERS), WISHING)
    assert await outbox.may_act(ORDERS)


async def test_under_the_same_lease_a_state_is_loaded_once(
    outbox: Outbox, store: MemoryStateStore, leases: Leases
) -> None:
    """A renewal is no reason to look again: nobody else can have saved it."""
    held = await outbox.open(ORDERS)
    leases.renew()
    store.save(ORDERS, WISHING, 0)
    assert await outbox.open(ORDERS) is held


async def test_under_a_new_lease_the_state_is_loaded_again(
    outbox: Outbox, store: MemoryStateStore, leases: Leases
) -> None:
    """Somebody else may have saved it in between."""
    await outbox.open(ORDERS)
    overtake(store)
    store.save(ORDERS, WISHING, 0)
    leases.renew()
    assert (await outbox.open(ORDERS)).state == WISHING


async def test_events_of_other_processes_jobs_are_theirs_to_tell(store: MemoryStateStore) -> None:
    """A job without a lease is read and left alone."""
    events = RecordingEvents()
    outbox = Outbox(store=store, events=events, leases=Leases(store))
    store.save(ORDERS, JobState(outbox=(EVENT,)), 0)
    held = await outbox.open(ORDERS)
    assert not outbox.looks_after(ORDERS)
    assert (held.state.outbox, events.told) == ((EVENT,), [])
    with pytest.raises(ConflictError, match="another process looks after the job"):
        await outbox.save(ORDERS, held, JobState())
