"""
What every `EventHandler` must do.

Use: subclass `EventHandlerSuite` in a test file and define a fixture `stage` that gives an `EventStage`; subclass
`RemoteEventHandlerSuite` where the receiver can be away, with an `OutageStage`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from headgate.errors import TransientError
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.ports import EventHandler

JOB = JobKey("local", "sales/eu: ünï #1")
NOON = datetime(2025, 6, 1, 12, 0, 0, 1, tzinfo=UTC)
_PATIENCE_S, _PAUSE_S = 20.0, 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a receiver knows of one event."""

    key: str
    reason: str
    subject: str
    message: str
    identity: str | None = None
    """By which a receiver knows a second delivery; None where it has nothing to know it by."""


class EventStage(Protocol):
    """A handler and who hears it."""

    @property
    def handler(self) -> EventHandler:
        """The one that is tested."""

    def heard(self) -> Sequence[Heard]:
        """Give what has arrived, in order, second deliveries included."""


class OutageStage(EventStage, Protocol):
    """A handler and a receiver that may be away."""

    def go_silent(self) -> None:
        """Let the receiver give no usable answer from now on."""

    def come_back(self) -> None:
        """Let it answer again."""


def event(key: str = "k", *, minute: int = 0, subject: JobKey | str = JOB) -> Event:
    """Make an event that is never merged."""
    return Event(
        at=NOON + timedelta(minutes=minute),
        type=EventType.WARNING,
        reason=EventReason.RESCALE_NOT_REACHED,
        message=f"ünreached '{key}'",
        key=key,
        subject=subject,
        fields={"wanted": 2, "rate": float("inf"), "why": "slots"},
    )


def deliver(handler: EventHandler, told: Event) -> None:
    """Offer an event until the handler takes responsibility for it, as the outbox of a saved state does."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            handler.handle(told)
        except TransientError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


class EventHandlerSuite:
    """The contract of `headgate.ports.EventHandler`, one behaviour a test."""

    @pytest.fixture
    def stage(self) -> EventStage:
        """Give a handler that was told nothing yet; every subclass has its own."""
        raise NotImplementedError

    def test_an_event_is_heard(self, stage: EventStage) -> None:
        """With key, reason, subject and text, whatever letters and numbers they hold."""
        deliver(stage.handler, event())
        (heard,) = stage.heard()
        assert (heard.key, heard.reason, heard.subject) == ("k", "RescaleNotReached", str(JOB))
        assert heard.message == "ünreached 'k'"

    def test_it_was_heard_when_the_handler_took_responsibility(self, stage: EventStage) -> None:
        """Nothing is on its way any more: whoever offered it may forget it."""
        for minute in range(5):
            deliver(stage.handler, event(f"k{minute}", minute=minute))
            assert len(stage.heard()) == minute + 1

    def test_a_cluster_may_be_the_subject(self, stage: EventStage) -> None:
        """Not every event is a job's."""
        deliver(stage.handler, event(subject="local"))
        assert [heard.subject for heard in stage.heard()] == ["local"]

    def test_an_event_that_comes_again_does_no_harm(self, stage: EventStage) -> None:
        """A second delivery is swallowed, or can be known for what it is."""
        for _ in range(3):
            deliver(stage.handler, event())
        known = {heard.identity or "the same" for heard in stage.heard()}
        assert len(known) == 1

    def test_what_happens_again_later_is_told_again(self, stage: EventStage) -> None:
        """The same key at another instant is another happening where nothing merges."""
        for minute in (0, 1):
            deliver(stage.handler, event(minute=minute))
        heard = stage.heard()
        assert len(heard) == 2  # noqa: PLR2004 -- as many as were told
        assert heard[0].identity is None or heard[0].identity != heard[1].identity

    def test_a_jobs_events_arrive_in_order(self, stage: EventStage) -> None:
        """What was told first is heard first."""
        keys = [f"k{number}" for number in range(20)]
        for number, key in enumerate(keys):
            deliver(stage.handler, event(key, minute=number))
        assert [heard.key for heard in stage.heard()] == keys

    def test_many_threads_may_tell(self, stage: EventStage) -> None:
        """Eight at once, of eight jobs: each event is heard once."""
        told = [event(f"k{number}", subject=JobKey("local", f"job-{number % 8}")) for number in range(40)]
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda one: deliver(stage.handler, one), told))
        assert sorted(heard.key for heard in stage.heard()) == sorted(one.key for one in told)

    def test_what_is_bound_to_merge_may_be_told_all_the_same(self, stage: EventStage) -> None:
        """An event with an interval is heard at least once, whoever merges it."""
        deliver(stage.handler, replace(event(), merge_interval=timedelta(minutes=30)))
        assert [heard.key for heard in stage.heard()] == ["k"]


class RemoteEventHandlerSuite(EventHandlerSuite):
    """What holds beyond that for a handler whose receiver may be away."""

    @pytest.fixture
    def stage(self) -> OutageStage:
        """Give a handler that was told nothing yet; every subclass has its own."""
        raise NotImplementedError

    def test_while_the_receiver_is_away_nothing_is_claimed(self, stage: OutageStage) -> None:
        """The handler raises, so that the event stays where it was saved."""
        stage.go_silent()
        for _ in range(2):
            with pytest.raises(TransientError):
                stage.handler.handle(event())
        assert stage.heard() == []

    def test_once_it_is_back_everything_arrives_in_order(self, stage: OutageStage) -> None:
        """What was offered in vain is offered again, and heard."""
        told = [event(f"k{number}", minute=number) for number in range(3)]
        stage.go_silent()
        for one in told:
            with pytest.raises(TransientError):
                stage.handler.handle(one)
        stage.come_back()
        for one in told:
            deliver(stage.handler, one)
        assert list(dict.fromkeys(heard.key for heard in stage.heard())) == ["k0", "k1", "k2"]
