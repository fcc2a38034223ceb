"""Headgate as shipped, on real Flink: courses of the load, and the little that is set."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.reaction_flink_setting import SLOTS, TASK_MANAGERS
from headgate.engines.flink.local.settings import LAB, Settings

RateAt = Callable[[float], float]
"""From seconds since the course began, negative before, to records/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A load over time; what it is at its begin is the load of the time before."""

    length_s: float
    every_s: float
    """How often the rate is set."""
    per_s: RateAt

    @property
    def changes(self) -> list[tuple[float, float]]:
        """Give when the rate changes, and to what."""
        ticks = [number * self.every_s for number in range(math.ceil(self.length_s / self.every_s))]
        return [(at_s, self.per_s(at_s)) for at_s in ticks if at_s == 0 or self.per_s(at_s) != self.per_s(at_s - 1)]


DOWN_S = 100.0
"""When the step goes back."""


def step(at_s: float) -> float:
    """Give 400 records/s, then 1,600, then 400."""
    return 1600.0 if 0 <= at_s < DOWN_S else 400.0


def ramp(at_s: float) -> float:
    """Give 300 records/s that become 1,500 within four minutes."""
    return 300.0 + 5.0 * min(max(at_s, 0.0), 240.0)


def noise(at_s: float) -> float:
    """Give 800 records/s, each second another rate within 30 % of it."""
    if at_s < 0:
        return 800.0
    chance = random.Random(f"noise/{int(at_s)}")  # noqa: S311 - a draw that can be repeated, no secret
    return 800.0 * chance.uniform(0.7, 1.3)


def sine(at_s: float) -> float:
    """Give 900 records/s, 600 more and 600 less, over ten minutes."""
    return 900.0 + 600.0 * math.sin(2 * math.pi * max(at_s, 0.0) / 600.0)


COURSES: Mapping[str, Course] = {
    "step": Course(length_s=2 * DOWN_S, every_s=DOWN_S, per_s=step),
    "ramp": Course(length_s=300.0, every_s=1.0, per_s=ramp),
    "noise": Course(length_s=300.0, every_s=1.0, per_s=noise),
    "sine": Course(length_s=600.0, every_s=1.0, per_s=sine),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """How Headgate is run."""

    lead_s: float = 60.0
    """How long before the course it is started."""
    measured_every: str = "1000"
    """Milliseconds after which the cluster measures anew; Flink's default is 10 s."""
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """Give Flink's own keys."""
        return {
            **LAB,
            "metrics.fetcher.update-interval": self.measured_every,
            "execution.checkpointing.interval": "2 s",
            "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling": "0 s",
        }

    def headgate(self, url: str) -> dict[str, object]:
        """Give the content of Headgate's file."""
        return {
            "mode": "act",
            "clusters": [{"name": "bench", "url": url}],
            "job.autoscaler.stabilization.interval": "10 s",
            "job.autoscaler.vertex.max-parallelism": TASK_MANAGERS * SLOTS,
            "metrics.enabled": False,
            **self.options,
        }


ARMS: Mapping[str, Arm] = {
    "shipped": Arm(),
    "shipped, begun 240 s before": Arm(lead_s=240.0),
    "AVG": Arm(options={"job.autoscaler.metrics.busy-time.aggregator": "AVG"}),
    "measured every 10 s": Arm(measured_every="10000"),
}


def told() -> dict[str, Any]:
    """Give all of the above that makes a run comparable to another one."""
    return {
        "courses": {name: [[at, round(rate, 1)] for at, rate in course.changes] for name, course in COURSES.items()},
        "arms": {name: {"lead_s": arm.lead_s, **arm.settings, **arm.headgate("")} for name, arm in ARMS.items()},
    }
