"""The load that the source replays: what it brings until an instant, and how it is written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.engines.spark.source.profile import LoadProfile, Sine, Steps, Term, parse_profile, parse_seconds

RATES = st.floats(0, 2000)
INSTANTS = st.floats(0, 4000)


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    """Draw a load of one to four steps."""
    begins = sorted(draw(st.sets(st.integers(0, 1200), min_size=1, max_size=4)))
    return Steps(steps=tuple((float(begin), draw(RATES)) for begin in begins))


@st.composite
def sines(draw: st.DrawFn) -> Sine:
    """Draw a load that swings."""
    base = draw(RATES)
    return Sine(base_per_s=base, amplitude_per_s=base * draw(st.floats(0, 1)), period_s=draw(st.floats(10, 2000)))


TERMS: st.SearchStrategy[Term] = st.one_of(steps(), sines())
PROFILES = st.lists(TERMS, min_size=1, max_size=3).map(lambda terms: LoadProfile(terms=tuple(terms)))


@given(PROFILES, INSTANTS, INSTANTS)
def test_rows_never_become_fewer(profile: LoadProfile, one: float, other: float) -> None:
    """Offsets never go back."""
    early, late = sorted((one, other))
    assert profile.rows_until(early) <= profile.rows_until(late) * (1 + 1e-12) + 1e-6


@given(TERMS, TERMS, INSTANTS)
def test_terms_add_up(one: Term, other: Term, at_s: float) -> None:
    """A `+` in a profile is a sum of loads."""
    assert LoadProfile(terms=(one, other)).rows_until(at_s) == pytest.approx(
        one.rows_until(at_s) + other.rows_until(at_s)
    )


@given(PROFILES, st.floats(1, 300))
def test_rows_are_the_integral_of_the_rate(profile: LoadProfile, at_s: float) -> None:
    """Many short spans of steady rate bring as many rows."""
    count = 300
    middles = ((number + 0.5) * at_s / count for number in range(count))
    summed = sum(profile.rate_per_s(middle) for middle in middles) * at_s / count
    highest = max(profile.rate_per_s(number * at_s / count) for number in range(count + 1))
    assert profile.rows_until(at_s) == pytest.approx(summed, rel=1e-2, abs=4 * highest * at_s / count + 1e-6)


@given(PROFILES, st.floats(0, 100_000))
def test_the_instant_of_a_row_is_when_it_has_come(profile: LoadProfile, rows: float) -> None:
    """By then it is there, and just before it was not."""
    at_s = profile.reached_s(rows)
    if math.isinf(at_s):
        assert profile.rows_until(1e8) <= rows
    else:
        assert profile.rows_until(at_s) >= rows
        assert profile.rows_until(at_s - 1e-3) <= rows


def test_a_load_that_ends_brings_so_many_rows_and_no_more() -> None:
    """What exactly-once is counted against."""
    profile = parse_profile("0s:200, 60s:0")
    assert profile.rows_until(30) == 6000
    assert profile.rows_until(1e6) == 12_000
    assert math.isinf(profile.reached_s(12_001))


def test_nothing_comes_before_the_start() -> None:
    """A start may lie ahead."""
    assert parse_profile("0s:200 + sine(100, 50, 1m)").rows_until(-5) == 0


def test_a_profile_is_read_as_it_is_meant() -> None:
    """Steps, swings and sums, with units."""
    profile = parse_profile("0:200, 1.5m:700 + sine(400, 200, 10m)")
    assert profile.terms == (
        Steps(steps=((0.0, 200.0), (90.0, 700.0))),
        Sine(base_per_s=400.0, amplitude_per_s=200.0, period_s=600.0),
    )
    assert parse_seconds(" 250ms ") == 0.25


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "'' is no step"),
        ("200", "'200' is no step"),
        ("0s:fast", "'fast' is no rate"),
        ("0s:-1", "'-1' is no rate"),
        ("0s:nan", "'nan' is no rate"),
        ("soon:5", "'soon' is no duration"),
        ("1d:5", "'1d' is no duration"),
        ("10s:5, 5s:7", "in order of time"),
        ("sine(1, 2, 10m)", "would be negative"),
        ("sine(1, 1)", "needs a base, an amplitude and a period"),
        ("sine(1, 1, 0s)", "must be positive"),
    ],
)
def test_a_fault_is_named(text: str, fault: str) -> None:
    """With an example of how it is written."""
    with pytest.raises(ValueError, match="load profile") as raised:
        parse_profile(text)
    assert fault in str(raised.value)
    assert "Hint: `0s:200, 60s:700` steps" in str(raised.value)
