"""Numbers for people."""

from __future__ import annotations

import math

import pytest

from headgate.algorithm.wording import amount


@pytest.mark.parametrize(
    ("number", "text"), [(1599.6, "1600"), (9.876, "9.88"), (0.0, "0"), (0.0004, "0.0004"), (math.inf, "unlimited")]
)
def test_amounts_have_the_digits_that_matter(number: float, text: str) -> None:
    """Whole from ten on, three digits below."""
    assert amount(number) == text
