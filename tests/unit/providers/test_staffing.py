"""Which workers start and end."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.providers.folder import Plan, Worker
from headgate.providers.staffing import staff

OLD: Mapping[str, str] = {"memory": "1g"}
NEW: Mapping[str, str] = {"memory": "2g"}


def worker(number: int, settings: Mapping[str, str] = OLD, *, ending_since: float | None = None) -> Worker:
    """Give one that lives."""
    return Worker(number=number, pid=1000 + number, settings=settings, ending_since=ending_since)


def test_missing_ones_start_under_the_lowest_free_numbers() -> None:
    """Worker 2 has died: its number is free again."""
    todo = staff([worker(1), worker(3)], Plan(wanted=4, settings=OLD))
    assert todo.starting == (2, 4)
    assert not todo.ending


def test_the_highest_numbers_end() -> None:
    """They came last."""
    todo = staff([worker(1), worker(2), worker(3)], Plan(wanted=1, settings=OLD))
    assert [one.number for one in todo.ending] == [2, 3]
    assert not todo.starting


def test_one_that_ends_is_not_counted_and_its_number_is_taken() -> None:
    """It still runs: a second one under its name would be taken for it."""
    todo = staff([worker(1, ending_since=1.0)], Plan(wanted=1, settings=OLD))
    assert todo.starting == (2,)
    assert not todo.ending


def test_other_settings_replace_every_worker() -> None:
    """By as many as are wanted."""
    todo = staff([worker(1), worker(2)], Plan(wanted=2, settings=NEW))
    assert [one.number for one in todo.ending] == [1, 2]
    assert todo.starting == (3, 4)


def test_a_replacement_that_was_interrupted_goes_on() -> None:
    """One worker has the settings already."""
    todo = staff([worker(1), worker(2, NEW)], Plan(wanted=2, settings=NEW))
    assert [one.number for one in todo.ending] == [1]
    assert todo.starting == (3,)


def test_without_a_number_there_are_as_many_as_before() -> None:
    """Settings may change before anybody asked for workers."""
    assert staff([worker(1)], Plan(settings=NEW)).starting == (2,)
    assert not staff([], Plan(settings=NEW)).starting
