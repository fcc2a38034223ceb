"""Draws the workload of the Kafka demo from a seed: what comes in, and when the broker goes away."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from headgate.demo.draw import UTILIZATION_TARGET, Phase

COST_US = 2000
"""Wall time of a subtask that each record takes."""
SOURCE, WORK, SINK = "source", "work", "sink"
"""The job's vertices; FORWARD edges tie them, so that all run with one parallelism."""
AWAY_AFTER = timedelta(seconds=4)
"""How long after the third phase began the broker is killed."""
AWAY_FOR = timedelta(seconds=20)
"""After how long it is to be back; it takes some seconds more where the machine is busy."""

_MARGIN = 0.3
"""How far a need stays from the whole numbers on both sides, in subtasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaDraw:
    """A drawn workload; the same seed gives the same one. Implements `headgate.demo.scene.Workload`."""

    seed: int
    phases: tuple[Phase, ...]

    def optimum(self, phase: Phase, /) -> Mapping[str, int]:
        """Return the parallelism that each vertex needs in a phase, by arithmetic alone."""
        needed = math.ceil(phase.rate_per_s * COST_US / 1e6 / UTILIZATION_TARGET)
        return dict.fromkeys((SOURCE, WORK, SINK), needed)

    @property
    def introduction(self) -> str:
        """What happens, for somebody who has never heard of Headgate."""
        return (
            "A real Flink job copies one Kafka topic to another, exactly once, with the consumer's usual settings, by "
            "which Flink hardly sees what waits. Headgate, a separate program, asks the broker. The load steps up, the "
            "broker is killed and comes back, the load steps down. "
        )

    @property
    def bottleneck(self) -> str:
        """The vertex that does the work."""
        return WORK

    @property
    def workers(self) -> str:
        """What the chart of its parallelism is called."""
        return "Workers of each step of the job"


def draw_kafka(seed: int) -> KafkaDraw:
    """Return the seed's workload."""
    chance = random.Random(seed)  # noqa: S311 (a draw that can be repeated, not a secret)

    def rate(workers: int) -> float:
        need = workers - chance.uniform(_MARGIN, 1 - _MARGIN)
        return round(need * UTILIZATION_TARGET * 1e6 / COST_US, -1)

    low, high, low_again = rate(1), rate(chance.choice((4, 5))), rate(1)
    rates = {"low load": low, "high load": high, "the broker goes away": high, "low load again": low_again}
    phases = tuple(Phase(title=title, rate_per_s=each) for title, each in rates.items())
    return KafkaDraw(seed=seed, phases=phases)
