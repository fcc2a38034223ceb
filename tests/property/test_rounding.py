"""The vectorised rounding against decimal arithmetic on the shortest text."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from headgate.algorithm.rates import round3

near_halves = st.integers(-(10**12), 10**12).map(lambda n: n / 10_000)
floats = st.floats(-1e11, 1e11, allow_nan=False)


@given(number=near_halves | floats)
def test_rounding_is_that_of_the_decimal_text(number: float) -> None:
    """Half away from zero on what the number looks like, and never to zero."""
    text = float(Decimal(repr(number)).quantize(Decimal("0.001"), ROUND_HALF_UP))

    assert round3(np.array([number]))[0] == (text or number)


@given(number=floats)
def test_rounding_twice_is_rounding_once(number: float) -> None:
    """The reference rounds when it stores and again when it evaluates."""
    once = round3(np.array([number]))

    assert round3(once).tobytes() == once.tobytes()
