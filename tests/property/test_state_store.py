"""Whatever is done to them, the SQL store and the one in memory answer alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from headgate.errors import ConflictError
from headgate.model.identity import JobKey
from headgate.model.orders import Orders
from headgate.model.state import JobState
from headgate.ports import Lease, StateStore
from headgate.stores.codec import decode_state, encode_state
from headgate.stores.memory import MemoryStateStore
from headgate.stores.sql import SqlStateStore
from headgate.testing.strategies import instants, job_states

JOBS = [JobKey("local", "a"), JobKey("local", "b/c"), JobKey("other", "a")]
EVER = datetime(1971, 1, 1, tzinfo=UTC)
SHARDS = [0, 1]
HOLDERS = ["host/anna", "host/bert"]
jobs = st.sampled_from(JOBS)
shards = st.sampled_from(SHARDS)
holders = st.sampled_from(HOLDERS)
seconds = st.integers(0, 3).map(lambda number: timedelta(seconds=number))
durations = st.integers(1, 3).map(lambda number: timedelta(seconds=number))


class StoresInStep(RuleBasedStateMachine):
    """Does the same to both stores and compares what they say."""

    def __init__(self) -> None:
        """Start with two empty stores."""
        super().__init__()
        self.directory = TemporaryDirectory()
        self.now = EVER
        self.leases: list[Lease] = []
        self.memory = MemoryStateStore()
        self.sql = self.opened()

    def opened(self) -> SqlStateStore:
        """Open the database, as a process that starts."""
        database = Path(self.directory.name) / "headgate.db"
        return SqlStateStore(f"sqlite:///{database}", answer_within=timedelta(seconds=1))

    def teardown(self) -> None:
        """Leave no file behind."""
        self.sql.close()
        self.directory.cleanup()

    def both(self, ask: Callable[[StateStore], Any]) -> Any:
        """Ask both stores, a refusal being an answer."""
        answer = _answer(self.memory, ask)
        assert answer == _answer(self.sql, ask)
        return answer

    @rule(job=jobs, state=job_states())
    def save_in_turn(self, job: JobKey, state: JobState) -> None:
        """Save over the version that is there."""
        self.both(lambda store: store.save(job, state, store.load(job).version))

    @rule(job=jobs, state=job_states(), version=st.integers(0, 4))
    def save_out_of_turn(self, job: JobKey, state: JobState, version: int) -> None:
        """Save over a version that may be another one."""
        self.both(lambda store: store.save(job, state, version))

    @rule(job=jobs)
    def forget(self, job: JobKey) -> None:
        """Forget a job, known or not."""
        self.both(lambda store: store.forget(job))

    @rule(job=jobs, since=instants())
    def look_back(self, job: JobKey, since: datetime) -> None:
        """Read some of a job's history."""
        self.both(lambda store: store.history(job, since))

    @rule(job=st.sampled_from([*JOBS, None]), key=st.sampled_from("ab"), value=st.sampled_from(["", "1", "2"]))
    def order(self, job: JobKey | None, key: str, value: str) -> None:
        """Set an option of a job or of all; an empty one is unset."""

        def change(before: Orders) -> Orders:
            options = {**before.options, key: value}
            return Orders(options={name: text for name, text in options.items() if text})

        self.both(lambda store: store.change_orders(job, change))

    @rule(passed=seconds)
    def wait(self, passed: timedelta) -> None:
        """Let leases come nearer to their end, or pass it."""
        self.now += passed

    @rule(shard=shards, holder=holders, duration=durations)
    def acquire(self, shard: int, holder: str, duration: timedelta) -> None:
        """Want a shard, free or not."""
        lease = self.both(lambda store: store.acquire(shard, holder, duration, now=self.now))
        self.leases += [lease] if lease else []

    @rule(holder=holders, duration=durations)
    def renew(self, holder: str, duration: timedelta) -> None:
        """Renew all of one holder."""
        self.both(lambda store: store.renew(holder, duration, now=self.now))

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        """Give back a lease that was had once."""
        for lease in self.one_lease(data):
            self.both(lambda store, lease=lease: store.release(lease))  # type: ignore[misc]

    @rule(data=st.data(), job=jobs, state=job_states())
    def save_under_a_lease(self, data: st.DataObject, job: JobKey, state: JobState) -> None:
        """Save over the right version, under a lease that may be another's by now."""
        for lease in self.one_lease(data):
            self.both(lambda store, lease=lease: store.save(job, state, store.load(job).version, lease=lease))  # type: ignore[misc]

    def one_lease(self, data: st.DataObject) -> Sequence[Lease]:
        """Choose one of the leases that were given, if any were."""
        return [data.draw(st.sampled_from(self.leases))] if self.leases else []

    @rule()
    def restart(self) -> None:
        """End the process and start another on the same database."""
        self.sql.close()
        self.sql = self.opened()

    @invariant()
    def every_job_is_alike(self) -> None:
        """State, version and whole history are those of the other store."""
        for job in JOBS:
            self.both(lambda store, job=job: (store.load(job), store.history(job, EVER)))  # type: ignore[misc]
        self.both(lambda store: (store.in_flight(), store.orders()))

    @invariant()
    def every_lease_is_alike(self) -> None:
        """What is good, of what was given last, is so in both; of one shard only one is."""
        good = self.both(lambda store: store.leases(now=self.now))
        assert len({lease.shard for lease in good}) == len(good)
        self.both(lambda store: [store.holds(lease, now=self.now) for lease in self.leases[-3:]])


def _answer(store: StateStore, ask: Callable[[StateStore], Any]) -> Any:
    try:
        return ask(store)
    except ConflictError:
        return ConflictError


TestStoresInStep = StoresInStep.TestCase
TestStoresInStep.settings = settings(max_examples=12, stateful_step_count=15, deadline=None)


@given(job_states())
def test_every_state_survives_its_json(state: JobState) -> None:
    """No field, number, zone or character is lost on the way."""
    assert decode_state(encode_state(state), job="j", store="s") == state
