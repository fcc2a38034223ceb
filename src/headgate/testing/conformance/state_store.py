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
from headgate.model.state import Intent, JobState, Rejection, ScalingRecord, VersionedState
from headgate.ports import StateStore

JOB = JobKey("local", "sales/eu: ünï #1")
OTHER = JobKey("local", "other")
NOON = datetime(2025, 6, 1, 12, 0, 0, 1, tzinfo=UTC)
_ONE, _TWO = {VertexId("a" * 32): 1}, {VertexId("a" * 32): 2}


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
    )


class StateStoreSuite:
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

    def test_forgetting_removes_state_and_history(self, store: StateStore) -> None:
        """Nothing of a forgotten job is left; forgetting it again is no error."""
        store.save(JOB, full_state(), 0)
        store.forget(JOB)
        store.forget(JOB)
        assert store.load(JOB) == VersionedState()
        assert store.history(JOB, NOON) == ()

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
