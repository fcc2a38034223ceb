"""Reactive mode: a job that uses whatever workers there are, and workers that follow the need (FLIP-159)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import LARGEST, Count, Duration, PositiveDuration


class ExecutionMode(StrEnum):
    """What decides the parallelism of a job."""

    NONE = "none"
    """What it needs."""
    REACTIVE = "reactive"
    """The workers that there are."""

    @classmethod
    def _missing_(cls, value: object) -> ExecutionMode | None:
        """Read it in any case, as Flink reads its own key."""
        return next((mode for mode in cls if isinstance(value, str) and mode.value == value.strip().lower()), None)


class Demand(StrEnum):
    """How much a reactive job asks for."""

    INFINITE = "INFINITE"
    """All there is, as in the FLIP."""
    NEED = "NEED"
    """What it needs, by its metrics, and no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactiveOptions(Options):
    """
    Of one job, all of them Headgate's own.

    Raises:
        ValueError: the smallest, wished for and largest parallelism are not in this order.
    """

    policy: str = option("policy", "uniform")
    """`uniform`, `proportional`, `bounds`, a registered scaling policy, or an instance of one."""

    demand: Demand = option("demand", Demand.INFINITE)
    """`INFINITE` uses all slots of the job's share, `NEED` no more than its load asks for."""

    weight: Annotated[float, Interval(gt=0, le=LARGEST)] = option("weight", 1.0)
    """Share of the cluster's slots relative to other reactive jobs of the cluster."""

    min_parallelism: Count = option("min-parallelism", 1)
    """Slots that no other job's share takes, and below which the job is told not to be able to run."""

    target_parallelism: Count | None = option("target-parallelism", None)
    """What `bounds` goes to while there are slots for it; unset: the largest."""

    max_parallelism: Count | None = option("max-parallelism", None)
    """Slots above which the job's share does not grow; unset: the largest that one of its vertices can have."""

    min_parallelism_increase: Count = option("min-parallelism-increase", 1)
    """The least growth, summed over the vertices, that is worth a rescale."""

    resource_stabilization: Duration = option("resource-stabilization", timedelta(seconds=10))
    """How long more slots than before must have been there before they are used."""

    lost_worker_timeout: Duration = option("lost-worker-timeout", timedelta(seconds=10))
    """How long a lost worker may take to come back before the job goes on with what is left."""

    checkpoint_age: PositiveDuration | None = option("checkpoint-age", None)
    """Growth only within so long after a completed checkpoint, for jobs with much state; unset: at any time."""

    def __post_init__(self) -> None:
        """Hold the bounds together."""
        named = {"min": self.min_parallelism, "target": self.target_parallelism, "max": self.max_parallelism}
        known = [(name, bound) for name, bound in named.items() if bound is not None]
        for (name, bound), (next_name, next_bound) in pairwise(known):
            if bound > next_bound:
                message = f"{name}-parallelism {bound} is above {next_name}-parallelism {next_bound}"
                raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersOptions(Options):
    """
    The workers of one cluster, where Headgate may add and remove them.

    Raises:
        ValueError: the smallest number is above the largest.
    """

    provider: str | None = option("provider", None)
    """A resource provider: an instance declared under `headgate.plugins`; unset: Headgate leaves the workers alone."""

    least: Annotated[int, Interval(ge=0)] = option("min", 1)
    """Workers that are never removed."""

    most: Count = option("max", 1)
    """Workers that are never exceeded."""

    scale_down_interval: Duration = option("scale-down.interval", timedelta(minutes=5))
    """How long fewer workers must have been enough before one is removed."""

    def __post_init__(self) -> None:
        """Hold the bounds together."""
        if self.least > self.most:
            message = f"min {self.least} is above max {self.most}"
            raise ValueError(message)
