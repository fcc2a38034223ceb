"""A job's state between two cycles: read once, written when it changes, its events told from what is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from headgate.control import reports
from headgate.control.outbox import Outbox
from headgate.errors import ConflictError, PermanentError, UnreachableError
from headgate.model.events import Event
from headgate.model.identity import JobKey, VertexId
from headgate.model.state import DelayedScaleDown, JobState, VersionedState, Wish
from headgate.ports import Lease
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at
from headgate.testing.fakes import RecordingEvents

EVENT: Event = reports.job_presence(ORDERS, appeared=True, why="is looked after from now on", now=at(0))
WISHING = JobState(
    delayed={VertexId("agg"): DelayedScaleDown(first_at=at(0), wishes=(Wish(at=at(0), parallelism=1, outside=True),))}
)


@dataclass
class CountingStore(MemoryStateStore):
    """Counts what is asked of it."""

    calls: list[str] = field(default_factory=list)
    unreadable: JobKey | None = None
    """A job whose state nobody understands."""

    def __post_init__(self) -> None:
        """Start empty."""
        super().__init__()

    def load(self, job: JobKey, /) -> VersionedState:
        """Load."""
        self.calls.append("load")
        if job == self.unreadable:
            message = "a newer Headgate wrote it"
            raise PermanentError(message)
        return super().load(job)

    def states(self) -> Mapping[JobKey, VersionedState]:
        """Load all."""
        self.calls.append("states")
        if self.unreadable:
            message = "a newer Headgate wrote one of them"
            raise PermanentError(message)
        return super().states()

    def save(self, job: JobKey, state: JobState, expected_version: int, /, *, lease: Lease | None = None) -> int:
        """Save."""
        self.calls.append("save")
        return super().save(job, state, expected_version, lease=lease)


@pytest.fixture
def store() -> CountingStore:
    """Hold nothing yet."""
    return CountingStore()


@pytest.fixture
def events() -> RecordingEvents:
    """Tell nobody yet."""
    return RecordingEvents()


@pytest.fixture
def outbox(store: CountingStore, events: RecordingEvents) -> Outbox:
    """Stand in front of the store."""
    return Outbox(store=store, events=events)


async def test_a_state_is_loaded_once(outbox: Outbox, store: CountingStore) -> None:
    """What is known need not be asked for in every cycle, not even after it was saved."""
    held = await outbox.open(ORDERS)
    await outbox.save(ORDERS, held, WISHING)

    assert (await outbox.open(ORDERS)).state == WISHING
    assert store.calls == ["load", "save"]


async def test_many_states_are_loaded_by_one_query(outbox: Outbox, store: CountingStore) -> None:
    """In the first cycle of a fleet; a job never saved begins with nothing, and a single one is loaded by itself."""
    fleet = [JobKey("prod", f"job-{number}") for number in range(50)]
    store.save(fleet[7], WISHING, 0)
    store.calls.clear()

    opened = await outbox.open_all(fleet)

    assert store.calls == ["states"]
    assert opened == {job: store.load(job) for job in fleet}
    store.calls.clear()
    await outbox.open_all([*fleet, ORDERS])
    assert store.calls == ["load"]


async def test_one_state_that_cannot_be_read_is_that_jobs_error(outbox: Outbox, store: CountingStore) -> None:
    """All together cannot be had then, all others can."""
    fleet = [JobKey("prod", f"job-{number}") for number in range(50)]
    store.unreadable = fleet[7]

    opened = await outbox.open_all(fleet)

    assert isinstance(opened.pop(fleet[7]), PermanentError)
    assert all(each == VersionedState() for each in opened.values())


async def test_what_did_not_change_is_not_written(outbox: Outbox, store: CountingStore) -> None:
    """Most cycles change nothing."""
    held = await outbox.open(ORDERS)

    assert await outbox.save(ORDERS, held, held.state) is held
    assert store.calls == ["load"]


async def test_a_job_that_went_is_let_go_of(outbox: Outbox, store: CountingStore) -> None:
    """When it comes back it is loaded anew: what the store keeps of it may have changed meanwhile."""
    await outbox.open(ORDERS)
    outbox.keep_only([])
    store.save(ORDERS, WISHING, 0)

    assert (await outbox.open(ORDERS)).state == WISHING


async def test_whoever_was_overtaken_looks_again(outbox: Outbox, store: CountingStore) -> None:
    """Somebody else has saved the job: this cycle fails for it, the next one begins from what is there."""
    held = await outbox.open(ORDERS)
    store.save(ORDERS, WISHING, 0)

    with pytest.raises(ConflictError):
        await outbox.save(ORDERS, held, replace(held.state, outbox=(EVENT,)))

    assert await outbox.open(ORDERS) == VersionedState(state=WISHING, version=1)


async def test_an_event_is_told_after_it_was_saved_and_then_struck_off(
    outbox: Outbox, store: CountingStore, events: RecordingEvents
) -> None:
    """Two writes: whoever dies between them tells it once more."""
    held = await outbox.save(ORDERS, await outbox.open(ORDERS), JobState(outbox=(EVENT,)))

    assert events.told == [EVENT]
    assert store.calls == ["load", "save", "save"]
    assert held == store.load(ORDERS) == VersionedState(state=JobState(), version=2)


async def test_an_event_that_was_not_delivered_is_told_when_the_job_is_opened_next(
    outbox: Outbox, store: CountingStore, events: RecordingEvents
) -> None:
    """It waits in the state, for this process or for the next one."""
    events.fault = UnreachableError("the receiver is down")
    await outbox.save(ORDERS, await outbox.open(ORDERS), JobState(outbox=(EVENT,)))
    assert store.load(ORDERS).state.outbox == (EVENT,)

    events.fault = None
    await outbox.open(ORDERS)

    assert events.told == [EVENT]
    assert store.load(ORDERS).state.outbox == ()


async def test_another_process_tells_what_was_left(
    outbox: Outbox, store: CountingStore, events: RecordingEvents
) -> None:
    """A state that was saved with an event and nothing more, as by a process that died there."""
    store.save(ORDERS, JobState(outbox=(EVENT,)), 0)

    held = await outbox.open(ORDERS)

    assert events.told == [EVENT]
    assert held.state.outbox == ()
