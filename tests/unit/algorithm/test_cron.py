"""Quartz cron expressions as Quartz reads them, whatever the library below calls its days."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from headgate.algorithm.cron import read_cron


def fires(text: str, year: int = 2024, month: int = 6) -> list[int]:
    """Give the days of a month on which an expression for midnight fires."""
    cron, first = read_cron(text), datetime(year, month, 1)  # noqa: DTZ001 - a wall clock has no zone
    days = [first + timedelta(days=day) for day in range(31)]
    return [day.day for day in days if day.month == month and cron.matches(day)]


@pytest.mark.parametrize(
    ("day_of_week", "days"),
    [
        ("1", [2, 9, 16, 23, 30]),
        ("SUN", [2, 9, 16, 23, 30]),
        ("7", [1, 8, 15, 22, 29]),
        ("L", [1, 8, 15, 22, 29]),
        ("6L", [28]),
        ("FRIL", [28]),
        ("6#3", [21]),
        ("THU#1", [6]),
        ("2,5", [3, 6, 10, 13, 17, 20, 24, 27]),
        ("6-1", [1, 2, 7, 8, 9, 14, 15, 16, 21, 22, 23, 28, 29, 30]),
        ("fri-mon/3", [3, 7, 10, 14, 17, 21, 24, 28]),
        ("4/2", [5, 7, 12, 14, 19, 21, 26, 28]),
        ("*/3", [1, 2, 5, 8, 9, 12, 15, 16, 19, 22, 23, 26, 29, 30]),
    ],
)
def test_weeks_begin_on_sunday_the_first(day_of_week: str, days: list[int]) -> None:
    """June 2024 begins on a Saturday; a step ends with the week."""
    assert fires(f"0 0 0 ? * {day_of_week}") == days


@pytest.mark.parametrize(
    ("day_of_month", "days"),
    [
        ("L", [30]),
        ("L-3", [27]),
        ("LW", [28]),
        ("L-29W", [3]),
        ("L-30", []),
        ("15W", [14]),
        ("1W", [3]),
        ("1,28-30", [1, 28, 29, 30]),
        ("/10", [1, 11, 21]),
        ("10/10", [10, 20, 30]),
    ],
)
def test_days_may_be_counted_from_the_end_or_moved_to_a_weekday(day_of_month: str, days: list[int]) -> None:
    """The 15th and the 30th are on a weekend, and no day is moved into another month."""
    assert fires(f"0 0 0 {day_of_month} * ?") == days


def test_the_last_weekday_may_be_the_last_day() -> None:
    """July 2024 ends on a Wednesday, August on a Saturday."""
    assert fires("0 0 0 LW * ?", month=7) == [31]
    assert fires("0 0 0 LW * ?", month=8) == [30]


def test_months_and_years_bound_it() -> None:
    """Months have names too, and a seventh field is the year."""
    assert fires("0 0 0 1 NOV-FEB ?", month=1) == [1]
    assert fires("0 0 0 1 NOV-FEB ?", month=6) == []
    assert fires("0 0 0 1 * ? 2024-2026") == [1]
    assert fires("0 0 0 1 * ? 2025/2") == []


def test_a_step_goes_on_beyond_the_end_of_a_range() -> None:
    """From 22:00 every three hours until 2:00 is 22:00 and 1:00."""
    cron, day = read_cron("0 0 22-2/3 * * ?"), datetime(2024, 6, 1)  # noqa: DTZ001 - a wall clock has no zone
    assert [hour for hour in range(24) if cron.matches(day.replace(hour=hour))] == [1, 22]


def test_it_fires_for_a_whole_second() -> None:
    """A second lasts until the next, and seconds come first."""
    cron = read_cron("30 0 0 * * ?")
    at = datetime.combine(date(2024, 6, 1), datetime.min.time())
    assert cron.matches(at + timedelta(seconds=30.9))
    assert not cron.matches(at + timedelta(seconds=31))


@pytest.mark.parametrize(
    "text",
    [
        "* * * * *",
        "* * * * * ? 2024 *",
        "* * * * * *",
        "* * * ? * ?",
        "* ? * * * ?",
        "* * * ? * 0",
        "* * * ? * 8",
        "* * * ? * 2,5555",
        "* * * ? * 2L#1",
        "* * * ? * 6#6",
        "* * * ? * #",
        "* * * ? * MON-",
        "* * * 32 * ?",
        "60 * * * * ?",
        "* * 24 * * ?",
        "* * * * 13 ?",
        "* * * 15W,3 * ?",
        "0/0 * * * * ?",
        "H * * * * ?",
        "R * * * * ?",
        "* * * * * ? 1960",
        "a b c d e ?",
        "@daily",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """Other dialects of the library below included."""
    with pytest.raises(ValueError, match=r"cron expression|fields|needs `\?`"):
        read_cron(text)
