"""
What every `StateStore` must do.

Use: subclass `StateStoreSuite` in a test file and define a fixture `store` that gives an empty store.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headgate.errors import ConflictError
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure
from headgate.model.orders import NO_ORDERS, Given, Orders, StandingOrders
from headgate.model.redeploy import Launch, Overlay, Redeploy, Start
from headgate.model.rollback import Evidence, ParallelismBound, Pool, Rollback, Run, Shortage, Side, Trial
from headgate.model.state import Intent, JobState, Rejection, ScalingRecord, VersionedState
from headgate.ports import Lease, StateStore
from headgate.testing.conformance.state_retention import StateRetentionSuite

JOB = JobKey("local", "sales/eu: ünï #1")
OTHER = JobKey("local", "other")
NOON = datetime(2025, 6, 1, 12, 0, 0, 1, tzinfo=UTC)
SHARD, ANNA, BERT = 7, "host/anna", "host/bert"
MINUTE = timedelta(minutes=1)
_VERTEX = VertexId("a" * 32)
_ONE, _TWO = {_VERTEX: 1}, {_VERTEX: 2}
_GIVEN = Given(at=NOON, by="anna@host", why="lätency")
_WHY = Evidence(checker="network-memory", found="2 failures", shortage=Shortage(pool=Pool.NETWORK, required=17))
_OVERLAY = Overlay(overrides={"a": "b"}, removals=frozenset({"c"}))


def record(decision_id: str, at: datetime, reached_at: datetime | None = None) -> ScalingRecord:
    """Make one rescale from 1 to 2."""
    return ScalingRecord(decision_id=decision_id, at=at, before=_ONE, after=_TWO, reached_at=reached_at)


def full_state() -> JobState:
    """Make a state in which nothing is left at its default."""
    deadline = NOON + timedelta(minutes=5)
    intent = Intent(
        decision_id="d2",
        decided_at=NOON,
        job_id="f" * 32,
        fingerprint="topology",
        before=_ONE,
        after=_TWO,
        deadline=deadline,
        realized_at=NOON + timedelta(seconds=1),
        attempts=2,
        redeploy=_redeploy(),
        takes_back="d0",
        trial=_trial(),
        ordered=True,
    )
    event = Event(
        at=NOON,
        type=EventType.WARNING,
        reason=EventReason.RESCALE_NOT_REACHED,
        message="ünreached",
        key="d1",
        subject=JOB,
        fields={"wanted": 2, "rate": float("inf"), "why": "slots"},
        merge_interval=timedelta(days=1, microseconds=1),
    )
    return JobState(
        intent=intent,
        rejections=(Rejection(after=_TWO, expires_at=deadline, why="no slots"),),
        history=(record("d1", NOON, reached_at=deadline),),
        outbox=(event, replace(event, subject="local", merge_interval=None)),
        launch=Launch(jar="job.jar", configuration={"a": "b"}),
        overlay=_OVERLAY,
        deferred=_OVERLAY,
        first=_run(),
        trial=_trial(),
        rollback=Rollback(decision_id="d1", at=NOON, run=_run(), target=_ONE, why=_WHY, paused_until=deadline),
        bounds=(ParallelismBound(vertex=_VERTEX, parallelism=2, side=Side.BELOW, expires_at=deadline, why="sick"),),
        job_wide=2,
        paused=_GIVEN,
        taken_up=_GIVEN,
    )


def _redeploy() -> Redeploy:
    start = Start(parallelism=1, vertices=_ONE, overlay=_OVERLAY)
    return Redeploy(launch=Launch(jar="job.jar"), successor="e" * 32, after=start, before=start, realizer="mine")


def _run() -> Run:
    start = _redeploy().before
    return Run(job_id="f" * 32, fingerprint="topology", parallelism=_ONE, settings="0", started_at=NOON, start=start)


def _trial() -> Trial:
    return Trial(
        decision_id="d2",
        began_at=NOON,
        before=_run(),
        after=_TWO,
        values={JobMeasure.GC_PRESSURE: 0.25},
        reached_at=NOON,
        job_id="e" * 32,
        started_at=NOON,
        redeploy=_redeploy(),
        down_since=NOON,
        takes_back="d0",
        memory_raised_at=NOON,
        granted=False,
        told=True,
        ill_since=NOON,
    )


def full_orders() -> Orders:
    """Make orders in which nothing is left at its default."""
    key = "job.autoscaler.utilization.target"
    return Orders(pause=_GIVEN, options={key: "0.5"}, given={key: _GIVEN}, rollback=_GIVEN)


def taken(store: StateStore, holder: str = ANNA, *, at: datetime = NOON) -> Lease:
    """Take the shard's lease for a minute; it must be there to be taken."""
    lease = store.acquire(SHARD, holder, MINUTE, now=at)
    assert lease is not None
    return lease


class StateStoreSuite(StateRetentionSuite):
    """The contract of `headgate.ports.StateStore`, one behaviour a test."""

    @pytest.fixture
    def store(self) -> StateStore:
        """Give an empty store; every subclass has its own."""
        raise NotImplementedError

    def test_an_unknown_job_has_the_default_state_at_version_0(self, store: StateStore) -> None:
        """A job never seen before is no error."""
        assert store.load(JOB) == VersionedState(state=JobState(), version=0)

    def test_what_was_saved_is_loaded(self, store: StateStore) -> None:
        """Every field of a state comes back as it was, infinite numbers and time zones included."""
        version = store.save(JOB, full_state(), 0)
        assert store.load(JOB) == VersionedState(state=full_state(), version=version)

    def test_each_save_has_a_new_version(self, store: StateStore) -> None:
        """The version that a save returns is what the next save expects."""
        first = store.save(JOB, JobState(), 0)
        second = store.save(JOB, full_state(), first)
        assert 0 < first < second
        assert store.load(JOB).version == second

    @pytest.mark.parametrize("expected", [0, 1, 3])
    def test_a_save_over_another_version_changes_nothing(self, store: StateStore, expected: int) -> None:
        """Somebody else was first: the save is refused, and neither state nor history has changed."""
        version = store.save(JOB, JobState(), store.save(JOB, JobState(), 0))
        with pytest.raises(ConflictError, match=r"ünï #1"):
            store.save(JOB, full_state(), expected)
        assert store.load(JOB) == VersionedState(state=JobState(), version=version)
        assert store.history(JOB, NOON) == ()

    def test_a_job_the_store_does_not_hold_has_no_version_to_expect(self, store: StateStore) -> None:
        """A state that was forgotten meanwhile does not come back by a save over its old version."""
        with pytest.raises(ConflictError):
            store.save(JOB, full_state(), 1)
        assert store.load(JOB).version == 0

    def test_jobs_do_not_touch_each_other(self, store: StateStore) -> None:
        """Each job has its own state, version and history."""
        store.save(JOB, full_state(), 0)
        store.save(OTHER, JobState(), 0)
        store.forget(JOB)
        assert store.load(JOB).version == 0
        assert store.load(OTHER).version == 1

    def test_history_keeps_what_the_state_has_dropped(self, store: StateStore) -> None:
        """The state holds few rescales, the history all of them, oldest first."""
        version = 0
        rescales = [record(f"d{n}", NOON + timedelta(minutes=n)) for n in range(12)]
        for rescale in reversed(rescales):
            version = store.save(JOB, JobState(history=(rescale,)), version)
        assert store.history(JOB, NOON) == tuple(rescales)

    def test_history_begins_at_the_instant_asked_for(self, store: StateStore) -> None:
        """A rescale at exactly `since` counts, one a microsecond before does not."""
        before, at = record("d1", NOON - timedelta(microseconds=1)), record("d2", NOON)
        store.save(JOB, JobState(history=(before, at)), 0)
        assert store.history(JOB, NOON) == (at,)

    def test_a_rescale_told_again_replaces_what_was_known_of_it(self, store: StateStore) -> None:
        """When the target was reached is known later; the rescale still stands once."""
        reached = record("d1", NOON, reached_at=NOON + timedelta(minutes=1))
        version = store.save(JOB, JobState(history=(record("d1", NOON),)), 0)
        store.save(JOB, JobState(history=(reached,)), version)
        assert store.history(JOB, NOON) == (reached,)

    def test_of_saves_from_many_threads_one_wins(self, store: StateStore) -> None:
        """Eight threads save over the same version: one does, seven are told."""

        def save(attempt: int) -> bool:
            try:
                store.save(JOB, JobState(history=(record(f"d{attempt}", NOON),)), 0)
            except ConflictError:
                return False
            return True

        with ThreadPoolExecutor(8) as threads:
            assert sum(threads.map(save, range(8))) == 1
        assert store.history(JOB, NOON) == store.load(JOB).state.history

    def test_jobs_with_an_open_intent_are_in_flight(self, store: StateStore) -> None:
        """From the save that opens an intent to the one that closes it."""
        for job in (OTHER, JOB):
            store.save(job, full_state(), 0)
        assert store.in_flight() == tuple(sorted([JOB, OTHER]))
        store.save(OTHER, JobState(), 1)
        store.forget(JOB)
        assert store.in_flight() == ()

    def test_a_job_whose_events_wait_is_in_flight(self, store: StateStore) -> None:
        """Nobody else would think of them once the job is gone."""
        version = store.save(JOB, replace(full_state(), intent=None), 0)
        assert store.in_flight() == (JOB,)
        store.save(JOB, replace(full_state(), intent=None, outbox=()), version)
        assert store.in_flight() == ()

    def test_all_states_are_given_at_once(self, store: StateStore) -> None:
        """Each under its job, as it is loaded by itself; of a job that was only looked at there is none."""
        saved = {job: store.save(job, full_state(), 0) for job in (JOB, OTHER)}
        store.load(JobKey("local", "looked at"))
        assert store.states() == {job: store.load(job) for job in saved}

    def test_nothing_is_ordered_at_first(self, store: StateStore) -> None:
        """Neither for a job nor for all."""
        assert store.orders() == StandingOrders()

    @pytest.mark.parametrize("job", [JOB, None], ids=["one job", "all jobs"])
    def test_what_was_ordered_holds(self, store: StateStore, job: JobKey | None) -> None:
        """For the job or for all, and for nobody else."""
        assert store.change_orders(job, lambda _: full_orders()) == full_orders()
        assert store.orders() == StandingOrders(
            fleet=NO_ORDERS if job else full_orders(), jobs={job: full_orders()} if job else {}
        )

    def test_an_order_is_made_of_the_one_before(self, store: StateStore) -> None:
        """Whoever lifts a pause leaves the options."""
        store.change_orders(JOB, lambda _: full_orders())
        store.change_orders(JOB, lambda before: replace(before, pause=None, rollback=None))
        assert store.orders().jobs == {JOB: replace(full_orders(), pause=None, rollback=None)}

    def test_what_was_taken_back_is_gone(self, store: StateStore) -> None:
        """And may be ordered anew."""
        for orders, jobs in ((full_orders(), {JOB: full_orders()}), (NO_ORDERS, {})) * 2:
            store.change_orders(JOB, lambda _, orders=orders: orders)  # type: ignore[misc]
            assert store.orders().jobs == jobs

    def test_a_change_that_fails_changes_nothing(self, store: StateStore) -> None:
        """It may find out that there is nothing it could be made of."""

        def fail(_: Orders) -> Orders:
            raise KeyError

        store.change_orders(JOB, lambda _: full_orders())
        with pytest.raises(KeyError):
            store.change_orders(JOB, fail)
        assert store.orders().jobs == {JOB: full_orders()}

    def test_orders_outlive_the_job(self, store: StateStore) -> None:
        """A job that is forgotten comes back as one that must not be touched."""
        store.save(JOB, full_state(), 0)
        store.change_orders(JOB, lambda _: full_orders())
        store.forget(JOB)
        assert store.orders().jobs == {JOB: full_orders()}

    def test_of_orders_from_many_threads_none_is_lost(self, store: StateStore) -> None:
        """Eight people set an option of their own at once."""

        def order(name: str) -> None:
            store.change_orders(JOB, lambda before: replace(before, options={**before.options, name: "1"}))

        names = [f"option.{number}" for number in range(8)]
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(order, names))
        assert store.orders().jobs[JOB].options == dict.fromkeys(names, "1")

    def test_a_lease_is_one_holders(self, store: StateStore) -> None:
        """While it is good nobody else gets it; other shards are free."""
        lease = taken(store)
        assert lease == Lease(shard=SHARD, holder=ANNA, token=lease.token, expires_at=NOON + MINUTE)
        assert store.acquire(SHARD, BERT, MINUTE, now=NOON + MINUTE / 2) is None
        assert store.acquire(SHARD + 1, BERT, MINUTE, now=NOON) is not None
        assert store.holds(lease, now=NOON + MINUTE / 2)

    def test_a_renewal_keeps_the_token(self, store: StateStore) -> None:
        """It is the same hand; the lease lasts from the renewal on, and what was got first is as good as it."""
        first = taken(store)
        renewed = taken(store, at=NOON + MINUTE / 2)
        assert (renewed.token, renewed.expires_at) == (first.token, NOON + MINUTE * 1.5)
        assert store.holds(first, now=NOON + MINUTE * 1.4)

    def test_all_of_a_holder_are_renewed_at_once(self, store: StateStore) -> None:
        """With their tokens; what has expired is not, nor what is somebody else's."""
        first, lasting = taken(store), store.acquire(SHARD + 1, ANNA, MINUTE * 2, now=NOON)
        bert = store.acquire(SHARD + 2, BERT, MINUTE * 2, now=NOON)
        assert lasting
        later = NOON + MINUTE
        assert store.renew(ANNA, MINUTE * 2, now=later) == (replace(lasting, expires_at=later + MINUTE * 2),)
        assert not store.holds(first, now=later)
        assert store.leases(now=later) == (replace(lasting, expires_at=later + MINUTE * 2), bert)

    @pytest.mark.parametrize("holder", [ANNA, BERT])
    def test_an_expired_lease_is_taken_under_a_larger_token(self, store: StateStore, holder: str) -> None:
        """Also by whoever held it: meanwhile it was nobody's. Expired it is at the very instant."""
        old = taken(store)
        assert not store.holds(old, now=NOON + MINUTE)
        new = taken(store, holder, at=NOON + MINUTE)
        assert new.token > old.token
        assert store.holds(new, now=NOON + MINUTE)
        assert not store.holds(old, now=NOON)

    def test_a_released_lease_is_free_at_once(self, store: StateStore) -> None:
        """The next one need not wait, and its token is larger all the same."""
        old = taken(store)
        store.release(old)
        assert not store.holds(old, now=NOON)
        assert taken(store, BERT).token > old.token

    def test_a_lease_that_was_taken_over_cannot_be_released(self, store: StateStore) -> None:
        """Whoever wakes up late takes nothing away from the one who followed."""
        old = taken(store)
        new = taken(store, BERT, at=NOON + MINUTE)
        store.release(old)
        assert store.holds(new, now=NOON + MINUTE)

    def test_a_save_under_a_good_lease_is_a_save(self, store: StateStore) -> None:
        """Also when the lease has expired and nobody else has taken it: then nobody else has acted either."""
        lease = taken(store, at=NOON - timedelta(days=1))
        assert store.save(JOB, full_state(), 0, lease=lease) == 1
        assert store.load(JOB).state == full_state()

    @pytest.mark.parametrize("holder", [ANNA, BERT])
    def test_a_save_under_a_lease_that_was_taken_over_is_refused(self, store: StateStore, holder: str) -> None:
        """Even over the right version: nothing is saved, neither state nor history."""
        old = taken(store)
        taken(store, holder, at=NOON + MINUTE)
        with pytest.raises(ConflictError, match=r"lease of shard 7.*ünï #1"):
            store.save(JOB, full_state(), 0, lease=old)
        assert store.load(JOB) == VersionedState()
        assert store.history(JOB, NOON) == ()

    def test_a_save_over_another_version_leaves_the_lease_alone(self, store: StateStore) -> None:
        """A conflict about one job says nothing about the shard."""
        lease = taken(store)
        store.save(JOB, JobState(), 0, lease=lease)
        with pytest.raises(ConflictError):
            store.save(JOB, full_state(), 0, lease=lease)
        assert store.holds(lease, now=NOON)

    def test_good_leases_are_told_by_shard(self, store: StateStore) -> None:
        """Of every holder; expired and released ones are not among them."""
        expired = store.acquire(1, ANNA, MINUTE / 2, now=NOON)
        later, released, first = (store.acquire(shard, BERT, MINUTE, now=NOON) for shard in (9, 5, -3))
        assert expired
        assert released
        store.release(released)
        assert store.leases(now=NOON + MINUTE / 2) == (first, later)

    def test_without_an_instant_the_stores_own_clock_counts(self, store: StateStore) -> None:
        """A lease taken for a minute is good now; one for no time never was."""
        lease = store.acquire(SHARD, ANNA, MINUTE)
        assert lease is not None
        assert store.holds(lease)
        assert store.leases() == (lease,)
        assert store.acquire(SHARD, BERT, MINUTE) is None
        brief = store.acquire(SHARD + 1, ANNA, timedelta())
        assert brief is not None
        assert not store.holds(brief)
        assert abs(lease.expires_at - MINUTE - datetime.now(UTC)) < MINUTE

    def test_of_many_threads_one_gets_the_lease(self, store: StateStore) -> None:
        """Eight want a shard that nobody ever held, then the same shard expired: each time one gets it."""
        for at in (NOON, NOON + MINUTE):
            with ThreadPoolExecutor(8) as threads:
                got = list(threads.map(lambda n, at=at: store.acquire(SHARD, f"host/{n}", MINUTE, now=at), range(8)))
            assert sum(lease is not None for lease in got) == 1
