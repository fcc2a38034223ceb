"""What happened to one job, from all who know something of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from tests.unit.overview.conftest import INTERVAL, Service, decided, made, waiting

from headgate.errors import UnreachableError
from headgate.events.reading import KeptEvent
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.orders import Given, Orders
from headgate.model.reasons import Reason
from headgate.model.rollback import Rollback, Run
from headgate.model.state import Intent, JobState, Rejection, ScalingRecord
from headgate.overview.entry import Entry, Kind, Past
from headgate.overview.reading import past
from headgate.overview.row import Change
from headgate.overview.story import entry_json, story
from headgate.stores.sql import SqlStateStore
from headgate.testing.builders import ORDERS, at

AGG = VertexId("agg")
TO_TWELVE = (Change(name="agg", before=4, after=12),)
PAUSE = Given(at=at(600), by="anna@laptop", why="the month's end")


def read(service: Service, second: float, *events: KeptEvent, store: SqlStateStore | None = None) -> Past:
    """Read the job's past since the story began."""
    source = store or service.store
    return past(ORDERS, service.reader, source, lambda: events, since=at(0), now=at(second), interval=INTERVAL)


def of_kind(told: Past, kind: Kind) -> Sequence[Entry]:
    """Pick some entries."""
    return [entry for entry in told.entries if entry.kind is kind]


def event(second: float, reason: EventReason, message: str = "so it is", **fields: str) -> KeptEvent:
    """Make an event as the table of events keeps it."""
    return KeptEvent(
        first_at=at(second),
        last_at=at(second),
        count=1,
        type="Warning",
        reason=reason,
        subject=str(ORDERS),
        message=message,
        key="k",
        fields=fields,
    )


def record_of(second: float, decision_id: str, **known: object) -> ScalingRecord:
    """Make what the store keeps of a rescale of `agg`."""
    record = ScalingRecord(decision_id=decision_id, at=at(second), before={AGG: 4}, after={AGG: 12})
    return replace(record, **known)  # type: ignore[arg-type]


def test_a_rescale_is_told_once_with_its_cause_and_its_end(service: Service) -> None:
    """The log knows the numbers, the store how long it took and how long the job stood still."""
    decision = made(60)
    service.decides(decision)
    ended = record_of(60, decision.id, reached_at=at(101), restart=timedelta(seconds=17))
    service.remembers(JobState(history=(ended,)))
    (told,) = of_kind(read(service, 120), Kind.RESCALE)
    assert told.rescale is not None
    assert told.rescale.changes == TO_TWELVE
    assert (told.rescale.reached_at, told.rescale.downtime_s) == (at(101), 17.0)
    assert told.why == (decision.message,)
    assert "          running so after 41 s, the job stood still for 17 s" in story(read(service, 120), width=80)


def test_a_rescale_that_the_log_has_forgotten_still_has_its_numbers(service: Service) -> None:
    """Those that the store has kept with it."""
    metrics = {AGG: {ScalingMetric.TRUE_PROCESSING_RATE: 200.0, ScalingMetric.LAG: 12.0}}
    service.remembers(JobState(history=(record_of(60, "d1", metrics=metrics),)))
    (told,) = of_kind(read(service, 120), Kind.RESCALE)
    assert (told.what, told.why) == ("agg 4 -> 12", ("agg: true rate 200/s, lag 12",))
    assert "          [yellow]not known to have been reached[/]" in story(read(service, 120), width=80)


def test_a_rescale_that_is_not_over_says_so(service: Service) -> None:
    """Its intent is open still."""
    decision = made(60)
    service.decides(decision)
    intent = Intent(
        decision_id=decision.id,
        decided_at=at(60),
        job_id="j1",
        fingerprint="f",
        before={AGG: 4},
        after={AGG: 12},
        deadline=at(300),
    )
    service.remembers(JobState(intent=intent))
    (told,) = of_kind(read(service, 90), Kind.RESCALE)
    assert told.rescale is not None
    assert told.rescale.in_flight


def test_a_rollback_is_told_with_its_evidence_once(service: Service) -> None:
    """By the event where it is kept, which says more; else by what the store remembers."""
    run = Run(job_id="j1", fingerprint="f", parallelism={AGG: 12})
    rollback = Rollback(decision_id="d1", at=at(200), run=run, target={AGG: 4}, why="3 failures within 10 min")
    service.remembers(JobState(rollback=rollback))
    (remembered,) = of_kind(read(service, 300), Kind.ROLLBACK)
    assert remembered.what == "rollback of decision d1 to agg 4"
    assert remembered.why == ("3 failures within 10 min", "nothing is scaled until the cluster is restarted")
    kept = event(200, EventReason.ROLLBACK, "takes back agg 4 -> 12: 3 failures", decision="d1")
    (by_event,) = of_kind(read(service, 300, kept), Kind.ROLLBACK)
    assert by_event.why == ("takes back agg 4 -> 12: 3 failures",)


def test_events_that_say_what_is_told_already_are_left_out(service: Service) -> None:
    """The others stand at their place in time."""
    told = read(
        service,
        300,
        event(10, EventReason.SCALING_REPORT),
        event(20, EventReason.RESCALE_REACHED),
        event(30, EventReason.RESCALE_NOT_REACHED, "gave up"),
    )
    assert [(entry.what, entry.why) for entry in told.entries] == [("rescale not reached", ("gave up",))]


def test_what_somebody_ordered_is_told(service: Service) -> None:
    """The pause that holds, the job's own before everybody's, and at the end all that is ordered."""
    service.store.change_orders(None, lambda _: Orders(pause=Given(at=at(0), by="bert@desk"), options={"a.b": "0.5"}))
    assert [entry.what for entry in read(service, 700).entries] == ["paused by bert@desk"]
    service.store.change_orders(ORDERS, lambda _: Orders(pause=PAUSE, rollback=PAUSE))
    told = read(service, 700)
    assert [(entry.at, entry.what) for entry in of_kind(told, Kind.ORDER)] == [
        (at(600), "paused by anna@laptop: the month's end"),
        (at(600), "rollback ordered by anna@laptop"),
    ]
    assert [line.partition(",")[0] for line in told.standing] == [
        f"paused by {PAUSE}",
        "its last rescale is to be taken back",
        "a.b is 0.5",
    ]


def test_a_pause_that_an_event_tells_of_is_told_once(service: Service) -> None:
    """The event says when it took effect; one of an earlier pause says nothing of this one."""
    service.store.change_orders(ORDERS, lambda _: Orders(pause=PAUSE))
    earlier, resumed = event(100, EventReason.PAUSED, "earlier"), event(200, EventReason.RESUMED, "resumed")
    of_this = event(610, EventReason.PAUSED, "it is")
    before = read(service, 700, earlier, resumed)
    assert [(entry.at, entry.kind) for entry in before.entries] == [(at(s), Kind.ORDER) for s in (100, 200, 600)]
    assert [entry.at for entry in read(service, 700, of_this).entries] == [at(610)]


def test_what_is_not_tried_again_stands_at_the_end(service: Service) -> None:
    """Until it has expired."""
    service.decides(decided(0))
    service.remembers(JobState(rejections=(Rejection(after={AGG: 12}, expires_at=at(900), why="no slots"),)))
    assert read(service, 600).standing == ("not tried again before 2026-01-01 00:15:00 UTC: agg 12; no slots",)
    assert read(service, 900).standing == ()


def test_everything_is_in_the_order_of_time(service: Service) -> None:
    """A stretch stands where it began."""
    for tick in range(10):
        service.decides(waiting(30 * tick, Reason.STABILIZING))
    service.decides(made(300))
    for tick in range(11, 21):
        service.decides(decided(30 * tick))
    told = read(service, 630, event(150, EventReason.AUTOSCALER_ERROR))
    assert [entry.kind for entry in told.entries] == [Kind.UNCHANGED, Kind.EVENT, Kind.RESCALE, Kind.UNCHANGED]
    assert [point.parallelism for point in told.points] == [None] * 10 + [6] * 11


def test_what_cannot_be_asked_is_said_and_spoils_nothing(service: Service) -> None:
    """Neither the store nor the events."""

    def fail() -> Sequence[KeptEvent]:
        message = "the events do not answer"
        raise UnreachableError(message)

    service.decides(decided(0))
    broken = SqlStateStore(f"sqlite:///{service.root}/none/headgate.db")
    told = past(ORDERS, service.reader, broken, fail, since=at(0), now=at(1), interval=INTERVAL)
    broken.close()
    assert [entry.what for entry in told.entries] == ["balanced"]
    assert "how rescales ended, and what is ordered, is not known" in told.notes[0]
    assert told.notes[1] == "what events told is not known: the events do not answer"
    alone = past(ORDERS, service.reader, None, tuple, since=at(0), now=at(1), interval=INTERVAL)
    assert alone.entries == told.entries
    assert "`memory`" in alone.notes[0]


def test_the_story_draws_and_a_machine_reads(service: Service) -> None:
    """Charts of what was measured above, an object a line below."""
    service.decides(decided(0, lag=1_000.0, load=0.4))
    service.decides(decided(300, lag=2_000.0, load=0.8))
    told = read(service, 600)
    lines = list(story(told, width=52))
    assert lines[1:4] == [
        "  parallelism [cyan]█         █         [/] 6 to 6",
        "          lag [cyan]▄         █         [/] 1000 to 2000",
        "      busiest [cyan]▄         █         [/] 40% to 80%",
    ]
    (entry,) = told.entries
    assert json.loads(entry_json(told, entry))["what"] == "balanced"


def test_a_service_that_no_longer_decides_is_told_up_to_the_present(service: Service) -> None:
    """The last stretch ends where it ended, and is not taken for what holds now."""
    service.decides(decided(0))
    service.decides(decided(30))
    assert of_kind(read(service, 60), Kind.SILENCE) == []
    (silence,) = of_kind(read(service, 7_230), Kind.SILENCE)
    assert (silence.at, silence.until, silence.what) == (at(30), at(7_230), "no decision for 2 h")


def test_what_others_wrote_is_no_order_to_the_terminal(service: Service) -> None:
    """An event's message may hold anything."""
    service.decides(decided(0))
    lines = "\n".join(story(read(service, 1, event(0, EventReason.AUTOSCALER_ERROR, "[/x]\x1b[2J\nboo")), width=80))
    assert r"\[/x]\x1b[2J\nboo" in lines
