"""The table of events on each kind of database: repetitions are counted, by several writers too, and old ones leave."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.events.database import EventDatabase
from headgate.events.merging import REPETITIONS, MergingEventHandler
from headgate.events.reading import KeptEvent, read_events
from headgate.events.retention import expire
from headgate.events.sql import SqlEventHandler
from headgate.events.tables import metadata
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.stores.connecting import connect

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
HALF_AN_HOUR = timedelta(minutes=30)
SALES, ORDERS = JobKey("local", "sales 100%"), JobKey("local", "orders")


def event(minute: float, *, key: str = "k", job: JobKey = SALES, interval: timedelta | None = HALF_AN_HOUR) -> Event:
    """Make an event at a minute of the story."""
    return Event(
        at=NOON + timedelta(minutes=minute),
        type=EventType.WARNING,
        reason=EventReason.AUTOSCALER_ERROR,
        message=f"at minute {minute:g}",
        key=key,
        subject=job,
        fields={"minute": minute, "rate": float("nan")},
        merge_interval=interval,
    )


@pytest.fixture(params=["sqlite", "postgresql", "mysql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name a database without events, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/events.db"
    found = str(request.getfixturevalue(f"{request.param}_url"))
    engine = connect(found, timedelta(seconds=5))
    metadata.drop_all(engine)
    engine.dispose()
    return found


def opened(url: str) -> EventDatabase:
    """Open a database as another process would."""
    return EventDatabase(connect(url, timedelta(seconds=10)))


@pytest.fixture
def database(url: str) -> Iterator[EventDatabase]:
    """Give the database."""
    with closing(opened(url)) as database:
        yield database


@pytest.fixture
def handler(database: EventDatabase) -> SqlEventHandler:
    """Give a handler in front of it."""
    return SqlEventHandler(database)


def rows(database: EventDatabase, subject: str | None = None) -> tuple[KeptEvent, ...]:
    """Give all rows, oldest first."""
    return read_events(database, since=NOON - timedelta(days=1), subject=subject)


def test_repetitions_within_the_interval_are_one_row(handler: SqlEventHandler, database: EventDatabase) -> None:
    """It tells how often, since when, until when, and what was said last."""
    for minute in (0, 10, 29):
        handler.handle(event(minute))
    (row,) = rows(database)
    assert (row.count, row.first_at, row.last_at) == (3, event(0).at, event(29).at)
    assert (row.message, row.fields) == ("at minute 29", {"minute": 29, "rate": "NaN"})


def test_after_the_interval_a_new_row_begins(handler: SqlEventHandler, database: EventDatabase) -> None:
    """The interval runs from the first of a row, not from its last repetition."""
    for minute in (0, 29, 30, 31):
        handler.handle(event(minute))
    assert [(row.count, row.first_at) for row in rows(database)] == [(2, event(0).at), (2, event(30).at)]


def test_another_handler_goes_on_counting(handler: SqlEventHandler, url: str, database: EventDatabase) -> None:
    """After a restart, or from another process, a repetition is a repetition still."""
    handler.handle(event(0))
    with closing(opened(url)) as other:
        SqlEventHandler(other).handle(event(5))
    assert [row.count for row in rows(database)] == [2]


def test_a_second_delivery_is_no_repetition(handler: SqlEventHandler, database: EventDatabase) -> None:
    """An instant that the row has counted already is not counted again, whether or not the event merges."""
    for minute in (0, 10, 0, 10):
        handler.handle(event(minute))
    for _ in range(2):
        handler.handle(event(20, key="rescaled", interval=None))
    assert [(row.key, row.count) for row in rows(database)] == [("k", 2), ("rescaled", 1)]


def test_what_a_decorator_held_back_counts(handler: SqlEventHandler, database: EventDatabase) -> None:
    """Somebody who merges in front of it loses no repetition, only when they were."""
    for minute in (0, 10, 20, 30):
        MergingEventHandler(handler).handle(event(minute))
    merging = MergingEventHandler(handler)
    for minute in (100, 110, 120, 130):
        merging.handle(event(minute, key="merged"))
    assert [row.count for row in rows(database) if row.key == "merged"] == [1, 3]
    assert rows(database)[-1].fields[REPETITIONS] == 2


def test_writers_that_tell_of_the_same_at_once_share_a_row(url: str, database: EventDatabase) -> None:
    """Four connections tell of the same 25 happenings at once: a row each, and none counted twice."""
    databases = [opened(url) for _ in range(4)]

    def tell(writer: int) -> None:
        for number in range(25):
            SqlEventHandler(databases[writer]).handle(event(0, key=f"k{number}"))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(tell, range(4)))
    for one in databases:
        one.close()
    assert [row.count for row in rows(database)] == [1] * 25


def test_no_repetition_is_lost_between_writers(url: str, database: EventDatabase) -> None:
    """Two connections count up one row in turns, faster than either could have read what the other wrote."""
    databases = [opened(url), opened(url)]
    for second in range(40):
        SqlEventHandler(databases[second % 2]).handle(event(second / 60))
    for one in databases:
        one.close()
    assert [row.count for row in rows(database)] == [40]


def test_old_events_leave_in_batches(handler: SqlEventHandler, database: EventDatabase) -> None:
    """A call deletes so many at most, the next goes on, and what is young enough stays."""
    for number in range(12):
        handler.handle(event(number, key=f"k{number}"))
    before = event(10).at
    assert expire(database, before, batch=3, most_batches=2) == 6
    assert expire(database, before, batch=3, most_batches=2) == 4
    assert expire(database, before, batch=3, most_batches=2) == 0
    assert [row.key for row in rows(database)] == ["k10", "k11"]


def test_an_event_that_goes_on_does_not_leave(handler: SqlEventHandler, database: EventDatabase) -> None:
    """Its age is that of its last repetition."""
    handler.handle(event(0))
    handler.handle(event(20))
    assert expire(database, event(10).at) == 0
    assert len(rows(database)) == 1


def test_a_key_begins_anew_after_its_rows_have_left(handler: SqlEventHandler, database: EventDatabase) -> None:
    """Nothing remembers what was deleted."""
    handler.handle(event(0))
    expire(database, event(1).at)
    handler.handle(event(2))
    assert [(row.count, row.first_at) for row in rows(database)] == [(1, event(2).at)]


@pytest.mark.parametrize("subject", ["local/sales 100%", "sales 100%"])
def test_events_of_one_job_are_found(handler: SqlEventHandler, database: EventDatabase, subject: str) -> None:
    """By its key, or by its name alone; no letter of it is a wildcard."""
    handler.handle(event(0))
    handler.handle(event(0, job=ORDERS))
    handler.handle(event(0, job=JobKey("local", "sales 1000")))
    assert [row.subject for row in rows(database, subject)] == [str(SALES)]


def test_the_latest_are_read(handler: SqlEventHandler, database: EventDatabase) -> None:
    """Where there are too many, the oldest are left out; what ended before the begin is not asked for."""
    for minute in range(5):
        handler.handle(event(minute, key=f"k{minute}"))
    latest = read_events(database, since=event(1).at, limit=2)
    assert [row.key for row in latest] == ["k3", "k4"]
    assert [row.key for row in read_events(database, since=event(1).at)] == ["k1", "k2", "k3", "k4"]


def test_long_texts_are_kept(handler: SqlEventHandler, database: EventDatabase) -> None:
    """A message may be longer than MySQL's usual text, and a job's name longer than its column."""
    long = replace(event(0), message="x" * 70_000, key="y" * 70_000, subject=JobKey("local", "n" * 600))
    handler.handle(long)
    (row,) = rows(database)
    assert (len(row.message), len(row.key), len(row.subject)) == (70_000, 70_000, 500)
