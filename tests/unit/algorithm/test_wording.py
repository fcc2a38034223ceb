"""Numbers for people."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from headgate.algorithm.wording import amount, memory_size, span


@pytest.mark.parametrize(
    ("number", "text"), [(1599.6, "1600"), (9.876, "9.88"), (0.0, "0"), (0.0004, "0.0004"), (math.inf, "unlimited")]
)
def test_amounts_have_the_digits_that_matter(number: float, text: str) -> None:
    """Whole from ten on, three digits below."""
    assert amount(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.5, "0.5 s"),
        (119, "119 s"),
        (120, "2 min"),
        (1800, "30 min"),
        (7199, "120 min"),
        (9000, "2.5 h"),
        (172_800, "48 h"),
        (-300, "-5 min"),
        (math.inf, "no end"),
    ],
)
def test_durations_have_a_unit_that_people_read(seconds: float, text: str) -> None:
    """Seconds up to two minutes, minutes up to two hours."""
    assert (
        span(seconds) == span(timedelta(seconds=seconds)) == text if math.isfinite(seconds) else span(seconds) == text
    )


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 MiB"), (1_811_939_328, "1728 MiB"), (10 * 2**30, "10.0 GiB"), (1.5 * 2**40, "1536.0 GiB")]
)
def test_memory_is_told_in_binary_units(size: float, text: str) -> None:
    """Which Flink's and Kubernetes' own settings mean."""
    assert memory_size(size) == text
