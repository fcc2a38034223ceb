"""What was seen of the demo's job, second by second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The job at one instant, as Flink itself tells it."""

    at_s: float
    """Seconds since the first phase began; negative before."""
    parallelism: Mapping[str, int]
    """Running subtasks of each vertex, by its short name."""
    running: bool = True
    """False while it restarts."""
    wanted_per_s: float = 0.0
    """Records per second that come in."""
    processed_per_s: float = 0.0
    """Records per second that the job took in, over the last few seconds."""
    lag_records: float = 0.0
    """Records that came in and are still waiting."""
    busy: Mapping[str, float] = field(default_factory=dict)
    """Share of the last few seconds that each vertex was busy, where it is known."""
