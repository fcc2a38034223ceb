"""What one run of the load job is: its arguments, and the parallelism that its load needs by arithmetic alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.demo.loadjob.profile import Profile
from headgate.demo.loadjob.stage import Stage

SOURCE = "source"
"""The source operator's name; stages may read it. Its records cost nothing."""

SINK = "sink"
"""The sink's name. It reads what no stage reads, at no cost."""

# A product such as 500 * 0.0014 / 0.7 is 1 on paper and slightly more in binary.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadJobSpec:
    """
    A load job; the same value gives the same job with the same vertex ids and, by `epoch`, the same load.

    Stages form a graph in the order given: each reads earlier ones, see `Stage.inputs`.
    """

    stages: tuple[Stage, ...]
    profile: Profile
    epoch: datetime
    """The profile's time 0."""
    partitions: int = 12
    """Splits of the source: more source subtasks than that are idle."""
    keys: int = 1000
    zipf: float = 0.0
    """Skew: key k has a share in proportion to `1 / (k + 1) ** zipf`; 0 makes all alike."""
    state_keys: int = 0
    """How many keys are preloaded into the first keyed stage on each way, before the load."""
    state_bytes: int = 0
    """Size of each preloaded value."""
    garbage_bytes: int = 0
    """Memory that each record takes in each keyed stage and gives back at once."""
    max_parallelism: int = 128
    checkpoint_interval: timedelta | None = None
    """`None` leaves it to the cluster."""
    chaining: bool = False
    """Whether Flink may join operators into one vertex; otherwise each operator is a vertex."""
    name: str = "load"

    def __post_init__(self) -> None:
        """Refuse a graph that the job would refuse."""
        known = {SOURCE}
        for stage, inputs in self._inputs().items():
            if stage in known or stage == SINK:
                msg = f"stage {stage}: the name is taken"
                raise ValueError(msg)
            if unknown := set(inputs) - known:
                msg = f"stage {stage} reads {sorted(unknown)}, which no earlier stage is called"
                raise ValueError(msg)
            known.add(stage)

    def arguments(self) -> list[str]:
        """Return the program's arguments, all of them, so that no default of the program matters."""
        interval = self.checkpoint_interval or timedelta()
        values = {
            "profile": self.profile.argument(),
            "epochMs": round(self.epoch.timestamp() * 1000),
            "partitions": self.partitions,
            "stages": ",".join(stage.argument() for stage in self.stages),
            "keys": self.keys,
            "zipf": self.zipf,
            "stateKeys": self.state_keys,
            "stateBytes": self.state_bytes,
            "garbageBytes": self.garbage_bytes,
            "maxp": self.max_parallelism,
            "ckptMs": interval // timedelta(milliseconds=1),
            "chain": str(self.chaining).lower(),
            "name": self.name,
        }
        return [f"{key}={value}" for key, value in values.items()]

    def input_rates(self, rate_per_s: float) -> Mapping[str, float]:
        """Return the records per second that reach each stage when the source emits so many; sink included."""
        emitted = {SOURCE: rate_per_s}
        received = {SOURCE: rate_per_s}
        inputs = self._inputs()
        for stage in self.stages:
            received[stage.name] = sum(emitted[name] for name in inputs[stage.name])
            emitted[stage.name] = received[stage.name] * stage.selectivity
        read = {name for names in inputs.values() for name in names}
        received[SINK] = sum(rate for name, rate in emitted.items() if name not in read)
        return received

    def analytic_parallelism(self, rate_per_s: float, utilization_target: float) -> Mapping[str, int]:
        """
        Return the least parallelism of each operator that keeps it at or below the utilization.

        `ceil(input rate * cost / utilization)`, at least 1; source and sink cost nothing, so they need 1.
        Limits (partitions, slots, maximum parallelism) and skew are not considered.

        Args:
            rate_per_s: what the source emits.
            utilization_target: busy share aimed at, above 0 and at most 1.
        """
        costs_us = {stage.name: stage.cost_us for stage in self.stages}
        return {
            name: max(1, math.ceil(rate * costs_us.get(name, 0) / 1e6 / utilization_target - _ROUNDING))
            for name, rate in self.input_rates(rate_per_s).items()
        }

    def _inputs(self) -> dict[str, tuple[str, ...]]:
        before = (SOURCE, *(stage.name for stage in self.stages))
        return {stage.name: stage.inputs or (previous,) for stage, previous in zip(self.stages, before, strict=False)}
