"""What happens to the soak's jobs and when, from a seed alone: their loads step up and down, and each has troubles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

LEVELS = (2, 4, 8)
"""Subtasks of the first vertex that a load is made for: each step at least doubles the load, or halves it."""
STEP_TICKS = (24, 36)
"""Ticks between two steps of one job, at least and at most."""
FIRST_STEP_AFTER_TICKS = 6
"""From then on as many jobs step in any minute as in any other: what a tick costs must not follow the plan's tides."""
TROUBLE_EVERY_TICKS = 40
"""Mean ticks between two troubles of one job."""
TROUBLE_S = (10.0, 40.0)


class Trouble(StrEnum):
    """What goes wrong with whatever is asked of one job."""

    ERROR = "error"
    """500."""
    HANG = "hang"
    """No answer."""
    RESET = "reset"
    """The connection breaks."""
    SLOW = "slow"
    """The right answer, a second late."""
    LOST = "lost"
    """A PUT is carried out and its answer lost."""
    GONE = "gone"
    """The job vanishes, and comes back under another id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A job's load changes."""

    at_s: float
    job: int
    level: int
    """One of `LEVELS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """A trouble with a beginning and an end."""

    at_s: float
    job: int
    trouble: Trouble
    until_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """
    What a soak is made of.

    Attributes:
        tick_s: time between two ticks of collector and cycle; everything else about time is counted in ticks.
    """

    seed: int
    jobs: int
    duration_s: float
    tick_s: float


def first_level(setting: Setting, job: int) -> int:
    """Give the load that a job begins with, and is sized for."""
    return _random(setting, job, "level").choice(LEVELS)


def plan(setting: Setting) -> list[Step | Spell]:
    """Give everything that happens to all jobs, in order."""
    happenings: list[Step | Spell] = []
    for job in range(setting.jobs):
        happenings += _steps(setting, job)
        happenings += _spells(setting, job)
    return sorted(happenings, key=lambda one: (one.at_s, one.job))


def _steps(setting: Setting, job: int) -> Iterator[Step]:
    random = _random(setting, job, "steps")
    level = first_level(setting, job)
    at_s = (FIRST_STEP_AFTER_TICKS + random.uniform(0, random.uniform(*STEP_TICKS))) * setting.tick_s
    while at_s < setting.duration_s:
        level = random.choice([other for other in LEVELS if other != level])
        yield Step(at_s=at_s, job=job, level=level)
        at_s += random.uniform(*STEP_TICKS) * setting.tick_s


def _spells(setting: Setting, job: int) -> Iterator[Spell]:
    """Never two at once: of two ends the first would end both."""
    random = _random(setting, job, "spells")
    at_s = random.expovariate(1 / TROUBLE_EVERY_TICKS) * setting.tick_s
    while at_s < setting.duration_s:
        until_s = at_s + random.uniform(*TROUBLE_S)
        yield Spell(at_s=at_s, job=job, trouble=random.choice(list(Trouble)), until_s=until_s)
        at_s = until_s + random.expovariate(1 / TROUBLE_EVERY_TICKS) * setting.tick_s


def _random(setting: Setting, job: int, what: str) -> Random:
    """Let one job's fate depend neither on the others nor on the length of the run."""
    return Random(f"{setting.seed}:{job}:{what}")  # noqa: S311 - no secret
