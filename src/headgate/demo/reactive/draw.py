"""
Draws the work of a reactive job from a seed: how many TaskManagers each phase needs is clear by arithmetic.

It knows nothing of Headgate's code, so that the judge can rely on it.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import datetime

from headgate.demo.draw import UTILIZATION_TARGET, Phase
from headgate.demo.loadjob import LoadJobSpec, Profile, Stage

SLOTS = 2
"""Of each TaskManager; a reactive job runs every operator in every slot."""

DEATH = 2
"""In the phase of this number, counted from 0, a TaskManager is killed as it begins."""

_TITLES = ("low load", "high load", "a worker dies", "low load again")
_LOW_NEED = (0.5, 1.6)
_HIGH_NEED = (4.4, 5.5)
"""Slots, not rounded: of one TaskManager and of three, well away from one more or less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactiveDraw:
    """A drawn workload; the same seed gives the same one."""

    seed: int
    stages: tuple[Stage, ...]
    phases: tuple[Phase, ...]

    def spec(self, *, epoch: datetime, profile: Profile) -> LoadJobSpec:
        """Return the job that does this work, with a load that follows the phases."""
        return LoadJobSpec(stages=self.stages, profile=profile, epoch=epoch, keys=10_000, name="reactive-demo")

    def workers(self, phase: Phase) -> int:
        """Return the TaskManagers that a phase needs, by arithmetic alone: seconds of work a second, by target."""
        costs_s = (stage.cost_us / 1e6 for stage in self.stages)
        slots = max(math.ceil(phase.rate_per_s * cost_s / UTILIZATION_TARGET) for cost_s in costs_s)
        return math.ceil(slots / SLOTS)


def draw_reactive(seed: int) -> ReactiveDraw:
    """Return the seed's workload: one TaskManager is enough when the load is low, three are needed when it is high."""
    chance = random.Random(seed)  # noqa: S311 (a draw that can be repeated, not a secret)
    high, high_need = float(chance.randrange(300, 601, 10)), chance.uniform(*_HIGH_NEED)
    low, low_again = (round(high * chance.uniform(*_LOW_NEED) / high_need, -1) for _ in range(2))
    cost_us = round(high_need * UTILIZATION_TARGET / high * 1e6, -1)
    lighter = round(cost_us * chance.uniform(0.3, 0.7), -1)
    return ReactiveDraw(
        seed=seed,
        stages=(Stage(name="parse", cost_us=lighter), Stage(name="count", cost_us=cost_us, keyed=True)),
        phases=tuple(
            Phase(title=title, rate_per_s=rate)
            for title, rate in zip(_TITLES, (low, high, high, low_again), strict=True)
        ),
    )
