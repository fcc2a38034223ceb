"""Excluded periods: times of the day, cron, both, and the time zones that they mean."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headgate.algorithm.periods import fault_of, fault_of_zone, is_excluded


def noon(hour: int = 12, minute: int = 0, *, micros: int = 0) -> datetime:
    """Make an instant of a Thursday in winter."""
    return datetime(2023, 12, 14, hour, minute, 0, micros, tzinfo=UTC)


def test_the_first_entry_that_matches_is_named() -> None:
    """So that an explanation can show it."""
    periods = ["8:00-9:00", "11:00-13:00", "* * 12 * * ?"]
    assert is_excluded(periods, noon(), "UTC") == "11:00-13:00"
    assert is_excluded(periods, noon(14), "UTC") is None
    assert is_excluded([], noon(), "UTC") is None


@pytest.mark.parametrize(
    ("at", "excluded"),
    [
        (noon(9, 30), True),
        (noon(9, 29), False),
        (noon(17), True),
        (noon(17, micros=999), True),
        (noon(17, micros=1000), False),
    ],
)
def test_both_ends_of_a_day_belong_to_it(at: datetime, *, excluded: bool) -> None:
    """To the millisecond, which is as finely as the syntax can say it."""
    assert (is_excluded(["9:30-17:00"], at, "UTC") is not None) is excluded


def test_a_day_and_a_cron_expression_must_both_match() -> None:
    """Office hours on weekdays are such a pair, in either order."""
    for text in ("9:00-17:00 && * * * ? * MON-FRI", "* * * ? * MON-FRI && 9:00-17:00"):
        assert is_excluded([text], noon(), "UTC") == text
        assert is_excluded([text], noon(18), "UTC") is None
        assert is_excluded([text], noon().replace(day=16), "UTC") is None


def test_an_entry_may_name_its_time_zone() -> None:
    """The others mean the default; noon in UTC is 13:00 in Berlin and 7:00 in New York."""
    assert is_excluded(["13:00-13:30 @ Europe/Berlin"], noon(), "UTC")
    assert is_excluded(["* * 7 * * ? @ America/New_York"], noon(), "UTC")
    assert is_excluded(["13:00-13:30"], noon(), "Europe/Berlin")
    assert not is_excluded(["13:00-13:30"], noon(), "UTC")


def test_a_zone_keeps_its_summer_time() -> None:
    """The wall clock counts: the same entry is an hour earlier in summer."""
    july = datetime(2023, 7, 14, 11, 15, tzinfo=UTC)
    assert is_excluded(["13:00-13:30 @ Europe/Berlin"], july, "UTC")


def test_without_any_zone_it_is_the_systems() -> None:
    """As in the reference, which knows no other."""
    local = noon().astimezone()
    assert is_excluded([f"{local.hour}:00-{local.hour}:30"], noon(), None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("17:00-9:00", "does not end after its begin. Hint: over midnight it takes two entries"),
        ("9:00-9:00", "does not end after its begin"),
        ("9:00-24:00", "has a time that no day has"),
        ("9:00-10:00:00:1000", "is not a daily period"),
        ("9-10:00", "is not a daily period"),
        ("9:00-10:00 && 11:00-12:00", "one daily period and one cron expression, nothing else"),
        ("* * * ? * 2 && * * * ? * 3", "one daily period and one cron expression, nothing else"),
        ("9:00-10:00 && * * * ? * 2 && 11:00-12:00", "nothing else"),
        ("9:00-10:00 @ Mars/Base", "'Mars/Base' is not a time zone. Hint: write it like Europe/Berlin"),
        ("9:00-10:00 @", "is not a time zone"),
        ("9:00-10:00 &&", "has 0 fields"),
    ],
)
def test_what_is_no_period_says_why(text: str, said: str) -> None:
    """With the text, so that it is found in a long list."""
    assert said in (fault_of(text) or "")


def test_what_is_one_has_no_fault() -> None:
    """Down to milliseconds, with or without blanks."""
    for text in ("9:00-10:00", "9:00:00:000 - 9:00:00:001", "0 0 12 * * ?", "9:00-10:00&&* * * ? * 2@UTC"):
        assert fault_of(text) is None
    assert fault_of_zone("Europe/Berlin") is None
    assert fault_of_zone("../etc/passwd")
