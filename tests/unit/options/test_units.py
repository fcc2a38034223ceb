"""Durations and sizes of memory as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headgate.options.units import format_duration, format_memory_size, parse_duration, parse_memory_size


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("30 s", timedelta(seconds=30)),
        ("5min", timedelta(minutes=5)),
        ("5 m", timedelta(minutes=5)),
        ("1 Hour", timedelta(hours=1)),
        (" 2 days ", timedelta(days=2)),
        ("1.5 s", timedelta(milliseconds=1500)),
        ("250 millis", timedelta(milliseconds=250)),
        ("7 µs", timedelta(microseconds=7)),
        ("0", timedelta()),
    ],
)
def test_a_number_and_a_unit_are_a_duration(text: str, duration: timedelta) -> None:
    """Flink's spellings are read, in any case, with or without a space; 0 needs no unit."""
    assert parse_duration(text) == duration


@pytest.mark.parametrize("text", ["30", "s", "", "3 parsecs", "-1 s", "1 s 2 ms", "1,5 s"])
def test_anything_else_is_none_and_says_what_is(text: str) -> None:
    """A number alone is the commonest mistake: it never means seconds."""
    with pytest.raises(ValueError, match=r"is not a duration\. Hint: write a number and one of us, ms, s, min, h, d"):
        parse_duration(text)


def test_more_than_can_be_held_is_told() -> None:
    """A slip of the finger in a number of days is a fault, not a crash."""
    with pytest.raises(ValueError, match="too long"):
        parse_duration("99999999999 d")


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(minutes=90), "90 min"),
        (timedelta(days=1), "1 d"),
        (timedelta(hours=25), "25 h"),
        (timedelta(milliseconds=1500), "1500 ms"),
        (timedelta(microseconds=1_500_001), "1500001 us"),
        (timedelta(), "0 s"),
    ],
)
def test_a_duration_is_written_in_the_largest_unit_that_needs_no_fraction(duration: timedelta, text: str) -> None:
    """So that it reads well and comes back exactly."""
    assert format_duration(duration) == text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("30g", 30 * 2**30),
        ("512 MB", 512 * 2**20),
        ("1 kibibytes", 1024),
        ("7", 7),
        ("0 b", 0),
        ("2 t", 2**41),
    ],
)
def test_a_whole_number_and_a_unit_are_a_size(text: str, size: int) -> None:
    """In powers of 1024 as Flink means them; bytes need no unit."""
    assert parse_memory_size(text) == size


@pytest.mark.parametrize("text", ["", "g", "1.5 g", "-1 g", "1 parsec"])
def test_anything_else_is_no_size_and_says_what_is(text: str) -> None:
    """Flink knows no fractions either."""
    with pytest.raises(ValueError, match=r"is not a memory size\. Hint: write a whole number and one of b, kb, mb"):
        parse_memory_size(text)


@pytest.mark.parametrize(
    ("size", "text"), [(30 * 2**30, "30 gb"), (1536 * 2**20, "1536 mb"), (1025, "1025 b"), (0, "0 b")]
)
def test_a_size_is_written_in_the_largest_unit_that_needs_no_fraction(size: int, text: str) -> None:
    """So that it comes back exactly."""
    assert format_memory_size(size) == text
    assert parse_memory_size(text) == size
