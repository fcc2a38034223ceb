"""What the runs of the comparison of lags have in common: the job, its load by seed, and the ways to rescale it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from headgate.demo.draw import UTILIZATION_MAX, UTILIZATION_MIN, UTILIZATION_TARGET
from headgate.demo.kafka.draw import COST_US
from headgate.demo.service import windows

PER_SUBTASK = 1e6 / COST_US
"""Records/s that one subtask does."""
GAUGE, BROKERS, SCRIPT = "gauge", "brokers", "script"
ARMS = (BROKERS, GAUGE, SCRIPT)
"""Headgate by what the brokers tell, by the connector's own gauge, and a script that knows the load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """When the load steps and the broker is away, seconds after the first step."""

    warm_up_s: float = 30
    high_s: float = 85
    away_at_s: float = 40
    away_s: float = 12
    low_s: float = 60
    phase_s: float = 2.0
    """The most by which a step is later, so that it does not always fall on the same moment of a checkpoint."""


COURSE = Course()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededLoad:
    """The load of one seed."""

    low_per_s: float
    high_per_s: float
    phase_s: float

    @classmethod
    def of(cls, seed: int) -> SeededLoad:
        """Draw it."""
        chance = random.Random(seed)  # noqa: S311 (a draw that can be repeated, not a secret)
        return cls(
            low_per_s=round(chance.uniform(250, 320)),
            high_per_s=round(chance.uniform(1420, 1560)),
            phase_s=round(chance.uniform(0, COURSE.phase_s), 2),
        )

    def per_s(self, at_s: float) -> float:
        """Give the load at a time."""
        return self.high_per_s if self.phase_s <= at_s < self.phase_s + COURSE.high_s else self.low_per_s

    def enough(self, at_s: float) -> int:
        """Give the fewest subtasks that can do what comes in."""
        return -int(-self.per_s(at_s) // PER_SUBTASK)

    def sized(self, at_s: float) -> int:
        """Give the subtasks that are busy for the target share of their time: what the script asks for."""
        return -int(-self.per_s(at_s) // (PER_SUBTASK * UTILIZATION_TARGET))


def headgate(arm: str, url: str, brokers: str) -> Mapping[str, object]:
    """Give the options of Headgate: the same but for whom it asks."""
    own = {"kafka-clusters": [{"name": "bench", "url": brokers}]} if arm == BROKERS else {}
    return {
        "clusters": [{"name": "bench", "url": url}],
        "mode": "act",
        "pipeline": "in-process",
        "collect.interval": "1 s",
        "decide.interval": "3 s",
        **windows(),
        "headgate.reaction": "fast",
        "job.autoscaler.catch-up.duration": "60 s",
        **own,
    }


def told() -> Mapping[str, Any]:
    """Give the setting, for the results."""
    band = [UTILIZATION_MIN, UTILIZATION_TARGET, UTILIZATION_MAX]
    return {"course": asdict(COURSE), "cost_us": COST_US, "band": band}
