"""What holds of the downtime model whatever was seen."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from headgate.algorithm.downtime import LONGEST_S, Learnt, Rescales, fit, predict, reaching

JOBS = 4
CLUSTER_OF = np.array([0, 0, 0, 1], dtype=np.int64)
PRIOR = reaching(
    base_s=np.array([0.3, 1.0]),
    per_byte_s=np.array([2e-9, 3e-9]),
    spread=np.array([0.6, 0.4]),
    count=np.array([24.0, 24.0]),
)

Row = tuple[float, float, int, bool]
"""State, downtime, job, whether it was a redeploy."""

states = st.floats(0, 1e12)
times = st.floats(0, 4_000)
rows = st.tuples(states, times, st.integers(0, JOBS - 1), st.booleans())
seen = st.lists(rows, max_size=30)
impossible = st.tuples(states, st.sampled_from([math.nan, math.inf, -1.0, -math.inf, 1e6])) | st.tuples(
    st.sampled_from([math.nan, math.inf, -1.0]), times
)


def _fit(rescales: Sequence[Row]) -> Learnt:
    columns = list(zip(*rescales, strict=True)) or [(), (), (), ()]
    return fit(
        Rescales(
            state_bytes=np.array(columns[0], dtype=np.float64),
            downtime_s=np.array(columns[1], dtype=np.float64),
            job=np.array(columns[2], dtype=np.int64),
            redeploy=np.array(columns[3], dtype=np.bool_),
        ),
        CLUSTER_OF,
        PRIOR,
    )


def _said(learnt: Learnt, state: float) -> np.ndarray:
    """Give expected, low and high of each line of each job."""
    return np.array(predict(learnt.jobs, np.full(2 * JOBS, state)))


@given(rescales=seen, state=states)
def test_the_interval_holds_what_is_expected(rescales: list[Row], state: float) -> None:
    """And is never below nothing; one that is unknown is so as a whole."""
    expected, low, high = _said(_fit(rescales), state)

    known = ~np.isnan(expected)
    assert (np.isnan(low) == ~known).all()
    assert (np.isnan(high) == ~known).all()
    assert (low[known] >= 0).all()
    assert (low[known] <= expected[known]).all()
    assert (expected[known] <= high[known]).all()
    assert np.isfinite(high[known]).all()


@given(rescales=seen, state=states)
def test_a_line_by_itself_says_what_all_say_together(rescales: list[Row], state: float) -> None:
    """Up to the longest that there is."""
    learnt = _fit(rescales)
    each = np.array([line.predict(state) for line in learnt.jobs.each()]).T

    assert np.allclose(each, np.minimum(_said(learnt, state), LONGEST_S), rtol=1e-12, atol=0, equal_nan=True)


@given(rescales=seen, state=states, more=states)
def test_more_state_never_takes_less(rescales: list[Row], state: float, more: float) -> None:
    """All three numbers grow with it."""
    learnt = _fit(rescales)
    less, grown = _said(learnt, state), _said(learnt, state + more)

    assert (np.isnan(less) | (less <= grown)).all()


@given(rescales=seen, chance=st.randoms(use_true_random=False))
def test_the_order_does_not_matter(rescales: list[Row], chance: random.Random) -> None:
    """To the last bit."""
    shuffled = chance.sample(rescales, len(rescales))

    assert _said(_fit(shuffled), 1e9).tobytes() == _said(_fit(rescales), 1e9).tobytes()


@given(rescales=seen, what=st.lists(impossible, min_size=1, max_size=5), redeploy=st.booleans())
def test_what_cannot_be_is_ignored(rescales: list[Row], what: list[tuple[float, float]], redeploy: bool) -> None:  # noqa: FBT001 - drawn
    """Negative, infinite or missing numbers, and times of more than a day."""
    spoilt = [*rescales, *((state, took, 0, redeploy) for state, took in what)]

    assert _said(_fit(spoilt), 1e9).tobytes() == _said(_fit(rescales), 1e9).tobytes()


@given(took=st.lists(st.floats(0.1, 1_000), min_size=7, max_size=12), times_more=st.integers(2, 5), state=states)
def test_the_same_again_narrows_the_interval(took: list[float], times_more: int, state: float) -> None:
    """Of rescales with the same state, and so many that a single one among them says little."""
    once = [(state, each, 0, False) for each in took]
    _, low, high = _said(_fit(once), state)[:, 0]
    _, low_again, high_again = _said(_fit(once * times_more), state)[:, 0]

    assert high_again / low_again < high / low * (1 + 1e-9)


@given(took=st.floats(0.5, 100), outage=st.floats(100, 80_000), count=st.integers(10, 30))
def test_one_outage_does_not_move_the_rest(took: float, outage: float, count: int) -> None:
    """However long it was."""
    clean = [(0.0, took, 0, False)] * count
    spoilt = [*clean, (0.0, outage, 0, False)]

    before, after = _said(_fit(clean), 0.0)[:, 0], _said(_fit(spoilt), 0.0)[:, 0]
    assert np.allclose(before, after, rtol=0.05)


@given(rescales=st.lists(rows, min_size=1, max_size=30))
def test_a_line_stays_within_what_was_seen(rescales: list[Row]) -> None:
    """Without state no job is expected to take longer than the longest rescale that was seen."""
    expected = _said(_fit(rescales), 0.0)[0]
    longest = max(took for _, took, _, _ in rescales)

    assert (np.isnan(expected) | (expected <= max(longest, 1e-3) * (1 + 1e-9))).all()
