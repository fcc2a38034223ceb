"""
How many rows a load has brought until an instant: a rate over time, its integral and the integral's inverse.

Pure, and free of everything outside of Python: Spark's executors may not have Headgate installed.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Protocol

_UNITS_S = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([a-z]*)\s*")
_SINE = re.compile(r"\s*sine\((.*)\)\s*")
_FOREVER_S = 1e9
_PRECISE_S = 1e-6
_EXAMPLE = "Hint: `0s:200, 60s:700` steps, `sine(400, 200, 10m)` swings, `+` adds them"


class Term(Protocol):
    """A rate over time; terms add up."""

    def rate_per_s(self, at_s: float, /) -> float:
        """Return the rows per second at an instant."""

    def rows_until(self, at_s: float, /) -> float:
        """Return the rows from the start until an instant: the integral of the rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """A rate that jumps at given instants; 0 before the first."""

    steps: tuple[tuple[float, float], ...]
    """When each rate begins, in seconds since the start, and the rate in rows per second."""

    def __post_init__(self) -> None:
        """Refuse what is out of order."""
        begins = [begin for begin, _ in self.steps]
        if not begins or any(later <= earlier for earlier, later in itertools.pairwise(begins)):
            message = f"steps must be at least one and in order of time, not {begins}"
            raise ValueError(message)

    def rate_per_s(self, at_s: float) -> float:
        """Return the rows per second at an instant."""
        return next((rate for begin, rate in reversed(self.steps) if begin <= at_s), 0.0)

    def rows_until(self, at_s: float) -> float:
        """Return the rows from the start until an instant."""
        ends = (*(begin for begin, _ in self.steps[1:]), math.inf)
        spans = zip(self.steps, ends, strict=True)
        return sum(rate * (min(end, at_s) - begin) for (begin, rate), end in spans if begin < at_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sine:
    """`base + amplitude * sin(2 pi t / period)`: it begins at the base and rises."""

    base_per_s: float
    amplitude_per_s: float
    period_s: float

    def __post_init__(self) -> None:
        """Refuse a rate that would be negative."""
        if self.amplitude_per_s > self.base_per_s:
            message = f"amplitude {self.amplitude_per_s:g} exceeds base {self.base_per_s:g}: the rate would be negative"
            raise ValueError(message)
        if self.period_s <= 0:
            message = f"a period must be positive, not {self.period_s:g} s"
            raise ValueError(message)

    def rate_per_s(self, at_s: float) -> float:
        """Return the rows per second at an instant; 0 before the start."""
        if at_s < 0:
            return 0.0
        return self.base_per_s + self.amplitude_per_s * math.sin(math.tau * at_s / self.period_s)

    def rows_until(self, at_s: float) -> float:
        """Return the rows from the start until an instant."""
        if at_s < 0:
            return 0.0
        swing = 1 - math.cos(math.tau * at_s / self.period_s)
        return self.base_per_s * at_s + self.amplitude_per_s * self.period_s / math.tau * swing


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProfile:
    """A load over time, counted in seconds from its start: the sum of its terms."""

    terms: tuple[Term, ...]

    def rate_per_s(self, at_s: float) -> float:
        """Return the rows per second at an instant; never negative."""
        return sum(term.rate_per_s(at_s) for term in self.terms)

    def rows_until(self, at_s: float) -> float:
        """Return the rows from the start until an instant; it never falls."""
        return sum(term.rows_until(at_s) for term in self.terms)

    def reached_s(self, rows: float) -> float:
        """Return the first instant until which so many rows have come; infinity if they never come."""
        late = 1.0
        while self.rows_until(late) < rows:
            late *= 2
            if late > _FOREVER_S:
                return math.inf
        early = 0.0
        while late - early > _PRECISE_S:
            middle = (early + late) / 2
            early, late = (middle, late) if self.rows_until(middle) < rows else (early, middle)
        return late


def parse_profile(text: str) -> LoadProfile:
    """
    Read a profile such as `0s:200, 60s:700`, `sine(400, 200, 10m)`, or several of them joined by `+`.

    Raises:
        ValueError: it is none; the text says where.
    """
    try:
        return LoadProfile(terms=tuple(_parse_term(term) for term in text.split("+")))
    except ValueError as error:
        message = f"load profile {text!r}: {error}. {_EXAMPLE}"
        raise ValueError(message) from error


def parse_seconds(text: str) -> float:
    """
    Read a duration such as `90s`, `1.5m`, `250ms`, `1h`; without a unit, seconds.

    Raises:
        ValueError: it is none.
    """
    found = _DURATION.fullmatch(text)
    if found is None or found[2] not in _UNITS_S:
        message = f"{text.strip()!r} is no duration"
        raise ValueError(message)
    return float(found[1]) * _UNITS_S[found[2]]


def _parse_term(text: str) -> Term:
    swing = _SINE.fullmatch(text)
    return _parse_sine(swing[1]) if swing else Steps(steps=tuple(_parse_step(step) for step in text.split(",")))


def _parse_step(text: str) -> tuple[float, float]:
    begin, colon, rate = text.partition(":")
    if not colon:
        message = f"{text.strip()!r} is no step"
        raise ValueError(message)
    return parse_seconds(begin), _parse_rate(rate)


def _parse_sine(text: str) -> Sine:
    parts = text.split(",")
    if len(parts) != 3:  # noqa: PLR2004 (named in the message)
        message = f"sine({text}) needs a base, an amplitude and a period"
        raise ValueError(message)
    base, amplitude, period = parts
    return Sine(base_per_s=_parse_rate(base), amplitude_per_s=_parse_rate(amplitude), period_s=parse_seconds(period))


def _parse_rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 <= rate < math.inf:
        message = f"{text.strip()!r} is no rate in rows per second"
        raise ValueError(message)
    return rate
