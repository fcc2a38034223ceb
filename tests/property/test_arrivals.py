"""What comes in since the last change: of any samples, whatever else is in the batch and in whatever order."""

from __future__ import annotations

import random

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from headgate.algorithm.arrival.estimate import Arrivals, arrivals
from headgate.algorithm.arrival.stretches import SERIES, stretches
from headgate.algorithm.columns import Column, Columns

Row = tuple[int, int, int, int | None, int | None, int | None, int | None, int | None, int, int]
"""What a source told, in the order of `SERIES`."""


@st.composite
def sources(draw: st.DrawFn) -> list[Row]:
    """
    Draw samples of one source: levels and noise, a clock that stands still or goes back, resets, holes, any lag.

    What comes in may be counted, always or now and then, and the count may begin anew. It waits for records, or not.
    """
    seed = np.random.default_rng(draw(st.integers(0, 999)))
    levels = draw(st.lists(st.sampled_from([0, 3, 400, 1600, 10**9]), min_size=1, max_size=4))
    noise = draw(st.sampled_from([0.0, 0.2, 2.0]))
    counted = draw(st.sampled_from([0.0, 0.5, 1.0]))
    waits = draw(st.sampled_from([0.0, 0.004, 0.5]))
    measured, read, epoch, begun, rows = 0, 0, 0, 0, list[Row]()
    for tick in range(draw(st.integers(0, 70))):
        rate = levels[tick * len(levels) // 70] * max(0.0, 1 + noise * seed.standard_normal())
        measured += int(seed.choice([2000, 2000, 2000, 0, -500, 3001]))
        read += round(2000 * rate)
        epoch += int(seed.random() < 0.02)
        lag = int(seed.integers(0, 10**7)) if seed.random() < draw(st.sampled_from([0.0, 0.5, 1.0])) else None
        begun = read if seed.random() < 0.02 else begun
        arrived = read - begun if seed.random() < counted else None
        origin = None if seed.random() < 0.5 else 1000 * int(seed.integers(0, 8))
        idle = None if seed.random() < 0.05 else round(2_000_000 * tick * waits)
        worked = 2_000_000 * tick - round(2_000_000 * tick * waits)
        known = None if seed.random() < 0.05 else read
        rows.append((2000 * tick, measured, epoch, lag, known, arrived, origin, idle, worked, 0))
    return rows


def told(*fleet: list[Row], shuffled: random.Random | None = None) -> Arrivals:
    """Give what is told of these sources."""
    rows = [(number, row) for number, told in enumerate(fleet) for row in told]
    rows = shuffled.sample(rows, len(rows)) if shuffled else rows
    columns = {
        name: Column(
            values=np.array([row[place] or 0 for _, row in rows], dtype=np.int64),
            valid=np.array([row[place] is not None for _, row in rows], dtype=np.bool_),
        )
        for place, name in enumerate(SERIES)
    }
    owner = np.array([number for number, _ in rows], dtype=np.int64)
    return arrivals(stretches(Columns(columns=columns), owner, len(fleet)))


def bytes_of(known: Arrivals, source: int) -> list[bytes]:
    """Give the bytes of one source's numbers."""
    every = (known.rate, known.error, known.lasted_s, known.changed, known.rising, known.saturated)
    # A shorter past has its longest time again where a longer one beside it goes further back.
    pairs = zip(known.means_s[source].tolist(), known.means[source].tolist(), strict=True)
    means = sorted({repr(pair) for pair in pairs})
    return [*(np.ascontiguousarray(values[source]).tobytes() for values in every), repr(means).encode()]


@given(fleet=st.lists(sources(), min_size=2, max_size=4), seed=st.randoms(use_true_random=False))
def test_a_source_is_told_alike_alone_and_among_others(fleet: list[list[Row]], seed: random.Random) -> None:
    """Neither longer pasts beside it nor the order of rows change a bit."""
    together = told(*fleet, shuffled=seed)

    for number, source in enumerate(fleet):
        assert bytes_of(together, number) == bytes_of(told(source), 0)


@given(source=sources())
def test_whatever_was_told_is_answered(source: list[Row]) -> None:
    """With a rate or none, an error that is none below 0, and a time that lies within what is known."""
    known = told(source)

    assert np.isnan(known.rate[0]) or 0 <= known.rate[0] < np.inf
    assert known.error[0] >= 0
    assert np.isinf(known.error[0]) or np.isfinite(known.rate[0])
    assert 0 <= known.lasted_s[0] <= sum(max(late[1] - early[1], 0) for early in source for late in source) / 1000
