"""Random loads: five courses over time, times five ways in which records arrive around them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from random import Random

from headgate.engines.simulated.load import Arriving, Load
from headgate.simulate.building import constant, sine, steps, trace

LEAD = timedelta(minutes=16)
"""Nothing but noise comes before: by then the longest window is full."""
DURATION = timedelta(minutes=70)
_END_S = DURATION.total_seconds()


class Course(StrEnum):
    """How a load goes, its noise aside."""

    STEPS = "steps"
    """To 0.3 to 4 times the first rate, every 6 to 20 minutes."""
    RAMPS = "ramps"
    """As far, within 3 to 25 minutes each, with pauses of 3 to 15 minutes."""
    SINE = "sine"
    """By 30 to 80 % around its mean, within 10 to 60 minutes."""
    BURSTS = "bursts"
    """Of 5 to 60 s and 1.5 to 4 times the rate, every 3 to 12 minutes."""
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How records arrive."""

    name: str
    arriving: Arriving
    noise: tuple[float, float]
    """Bounds of the standard deviation of the rate, as a share of it, while one draw of the noise holds."""
    rates: tuple[float, float] = (20, 20_000)
    """Bounds of the first rate, records/s."""


KINDS = (
    Kind(name="normal, 5 %", arriving=Arriving.NORMAL, noise=(0.05, 0.05)),
    Kind(name="normal, 20 %", arriving=Arriving.NORMAL, noise=(0.2, 0.2)),
    # only few records vary much by themselves
    Kind(name="Poisson", arriving=Arriving.POISSON, noise=(0, 0), rates=(1, 100)),
    Kind(name="Gamma", arriving=Arriving.GAMMA, noise=(0.2, 0.5)),
    Kind(name="Pareto", arriving=Arriving.PARETO, noise=(0.3, 1.0)),
)
COURSES = tuple(Course)


def course_of(number: int) -> Course:
    """Give the course of a job: all in turn."""
    return COURSES[number % len(COURSES)]


def kind_of(number: int) -> Kind:
    """Tell how the records of a job arrive: with each course in turn."""
    return KINDS[number // len(COURSES) % len(KINDS)]


def random_load(seed: int, number: int, course: Course, kind: Kind) -> Load:
    """Draw the load of a job."""
    chance = Random(f"{seed}/load/{number}")  # noqa: S311 - a draw that can be repeated, no secret
    load = _course(chance, course, log_uniform(chance, *kind.rates))
    return replace(
        load,
        arriving=kind.arriving,
        noise=chance.uniform(*kind.noise),
        noise_interval=timedelta(seconds=chance.choice((1, 2, 5, 10))),
    )


def largest_rate(load: Load) -> float:
    """Give the highest rate of a load, its noise aside."""
    return max(load.rate_per_s(at_s) for at_s in range(0, int(_END_S), 5))


def log_uniform(chance: Random, least: float, most: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return math.exp(chance.uniform(math.log(least), math.log(most)))


def _course(chance: Random, course: Course, rate: float) -> Load:
    match course:
        case Course.STEPS:
            return steps(dict(_stairs(chance, rate)))
        case Course.RAMPS:
            return trace(dict(_slopes(chance, rate)))
        case Course.SINE:
            return sine(rate, rate * chance.uniform(0.3, 0.8), timedelta(minutes=chance.uniform(10, 60)))
        case Course.BURSTS:
            return steps(dict(_bursts(chance, rate)))
        case Course.CONSTANT:
            return constant(rate)


def _stairs(chance: Random, rate: float) -> Iterator[tuple[float, float]]:
    yield 0, rate
    for at_s in _instants(chance, 6, 20):
        yield at_s, rate * log_uniform(chance, 0.3, 4)


def _slopes(chance: Random, rate: float) -> Iterator[tuple[float, float]]:
    yield 0, rate
    at_s, level = LEAD.total_seconds(), rate
    while at_s < _END_S:
        yield at_s, level
        at_s, level = at_s + 60 * chance.uniform(3, 25), rate * log_uniform(chance, 0.3, 4)
        yield at_s, level
        at_s += 60 * chance.uniform(3, 15)


def _bursts(chance: Random, rate: float) -> Iterator[tuple[float, float]]:
    yield 0, rate
    for at_s in _instants(chance, 3, 12):
        yield at_s, rate * log_uniform(chance, 1.5, 4)
        yield at_s + chance.uniform(5, 60), rate


def _instants(chance: Random, least_min: float, most_min: float) -> Iterator[float]:
    gaps = (60 * chance.uniform(least_min, most_min) for _ in itertools.count())
    begin_s = LEAD.total_seconds() + chance.uniform(0, 300)
    return itertools.takewhile(lambda at_s: at_s < _END_S, itertools.accumulate(gaps, initial=begin_s))
