"""What every `StateStore` must do to forget: a part of `StateStoreSuite`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headgate.errors import ConflictError
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.orders import NO_ORDERS, Given, Orders
from headgate.model.state import Intent, JobState, ScalingRecord, VersionedState
from headgate.ports import StateStore

_JOB, _OTHER = JobKey("local", "sales/eu: ünï #1"), JobKey("local", "other")
_NOON = datetime(2025, 6, 1, 12, 0, 0, 1, tzinfo=UTC)
_LATER, _DAY = _NOON + timedelta(days=30), timedelta(days=1)
_ONE, _TWO = {VertexId("a" * 32): 1}, {VertexId("a" * 32): 2}
_RECORD = ScalingRecord(decision_id="d1", at=_NOON, before=_ONE, after=_TWO)
_IDLE = JobState(history=(_RECORD,))
_CHANGING = replace(
    _IDLE,
    intent=Intent(
        decision_id="d2",
        decided_at=_NOON,
        job_id="f" * 32,
        fingerprint="topology",
        before=_ONE,
        after=_TWO,
        deadline=_LATER,
    ),
)
_TELLING = replace(
    _IDLE,
    outbox=(
        Event(
            at=_NOON,
            type=EventType.NORMAL,
            reason=EventReason.RESCALE_NOT_REACHED,
            message="unreached",
            key="d1",
            subject=_JOB,
        ),
    ),
)


class StateRetentionSuite:
    """The part of the contract of `headgate.ports.StateStore` that is about forgetting, one behaviour a test."""

    def test_forgetting_removes_state_and_history(self, store: StateStore) -> None:
        """Nothing of a forgotten job is left; forgetting it again is no error, and tells that there was nothing."""
        store.save(_JOB, _CHANGING, 0)
        assert store.forget(_JOB)
        assert not store.forget(_JOB)
        assert store.load(_JOB) == VersionedState()
        assert store.history(_JOB, _NOON) == ()
        assert store.kept() == {}

    def test_what_is_kept_is_listed(self, store: StateStore) -> None:
        """Of a job that was only asked for nothing is."""
        store.save(_JOB, _IDLE, 0)
        store.load(_OTHER)
        assert store.kept() == {_JOB: None}

    def test_since_when_a_job_is_gone_can_be_noted(self, store: StateStore) -> None:
        """And that it is back; what is not kept is passed over, and a note is no save."""
        for job in (_JOB, _OTHER):
            store.save(job, _IDLE, 0)
        store.note_gone([_JOB, JobKey("local", "never seen")], _NOON)
        assert store.kept() == {_JOB: _NOON, _OTHER: None}
        assert store.load(_JOB) == VersionedState(state=_IDLE, version=1)
        store.note_gone([_JOB], None)
        store.note_gone([], _NOON)
        assert store.kept() == {_JOB: None, _OTHER: None}

    def test_notes_may_be_many(self, store: StateStore) -> None:
        """More than a statement holds, of a cluster that was taken down."""
        jobs = [JobKey("local", f"job {number}") for number in range(1100)]
        for job in jobs[-2:]:
            store.save(job, _IDLE, 0)
        store.note_gone(jobs, _NOON)
        assert store.kept() == dict.fromkeys(sorted(jobs[-2:]), _NOON)

    def test_a_save_says_that_its_job_is_there(self, store: StateStore) -> None:
        """Whoever saves it has seen it."""
        store.save(_JOB, _IDLE, 0)
        store.note_gone([_JOB], _NOON)
        store.save(_JOB, _IDLE, 1)
        assert store.kept() == {_JOB: None}

    def test_only_what_is_gone_for_so_long_is_forgotten(self, store: StateStore) -> None:
        """Not at the very instant, nor what is not noted as gone."""
        for job in (_JOB, _OTHER):
            store.save(job, _IDLE, 0)
        store.note_gone([_JOB], _NOON)
        assert not store.forget(_JOB, gone_before=_NOON)
        assert not store.forget(_OTHER, gone_before=_LATER)
        assert store.history(_JOB, _NOON) == (_RECORD,)
        assert store.forget(_JOB, gone_before=_LATER)
        assert store.kept() == {_OTHER: None}
        assert store.history(_JOB, _NOON) == ()

    @pytest.mark.parametrize("state", [_CHANGING, _TELLING], ids=["a change under way", "events that wait"])
    def test_a_job_in_use_is_not_forgotten_with_those_that_are_not(self, store: StateStore, state: JobState) -> None:
        """However long it is gone; state and history stay until that is settled."""
        store.save(_JOB, state, 0)
        store.note_gone([_JOB], _NOON)
        assert not store.forget(_JOB, gone_before=_LATER, unused=True)
        assert store.load(_JOB) == VersionedState(state=state, version=1)
        assert store.history(_JOB, _NOON) == (_RECORD,)
        store.save(_JOB, _IDLE, 1)
        assert store.forget(_JOB, unused=True)

    def test_a_job_with_orders_is_not_forgotten_with_those_without(self, store: StateStore) -> None:
        """Until the orders are taken back; those for other jobs, or for all, do not count."""
        pause = Orders(pause=Given(at=_NOON, by="anna@host"))
        store.save(_JOB, _IDLE, 0)
        for whom in (_JOB, _OTHER, None):
            store.change_orders(whom, lambda _: pause)
        assert not store.forget(_JOB, unused=True)
        assert store.kept() == {_JOB: None}
        store.change_orders(_JOB, lambda _: NO_ORDERS)
        assert store.forget(_JOB, unused=True)

    def test_a_forgotten_job_that_comes_back_is_a_new_one(self, store: StateStore) -> None:
        """Whoever still holds its old state is told."""
        store.save(_JOB, _IDLE, 0)
        store.forget(_JOB)
        with pytest.raises(ConflictError):
            store.save(_JOB, _IDLE, 1)
        assert store.save(_JOB, JobState(), 0) == 1

    def test_old_rescales_leave_the_history(self, store: StateStore) -> None:
        """Of all jobs, those before the instant; what the state tells of them stays."""
        records = tuple(
            replace(_RECORD, decision_id=f"d{number}", at=_NOON + timedelta(seconds=number)) for number in range(1200)
        )
        store.save(_JOB, JobState(history=records), 0)
        store.save(_OTHER, _IDLE, 0)
        store.forget_history(records[1100].at)
        assert store.history(_JOB, _NOON - _DAY) == records[1100:]
        assert store.history(_OTHER, _NOON - _DAY) == ()
        assert store.load(_OTHER).state == _IDLE
