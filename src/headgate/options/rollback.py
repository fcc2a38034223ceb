"""How a rescale that made a job sick is noticed and taken back (FLINK-37411)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import Count, Duration, PositiveDuration

COMMON_CHECKERS = ("network-memory", "memory-pressure", "restart-loop", "never-running", "not-reached")
"""Those that judge whatever engine a job runs on."""

BUILT_IN_CHECKERS = (*COMMON_CHECKERS, "falls-behind")


class RollbackTarget(StrEnum):
    """Where a job goes back to."""

    LAST = "LAST"
    """The parallelism with which it was last well."""
    FIRST = "FIRST"
    """The first one, with which the user submitted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackOptions(Options):
    """Of one job, all of them Headgate's own."""

    enabled: bool = option("enabled", default=True)
    """Whether a job that its last rescale made sick goes back by itself, wherever Headgate may act."""

    checkers: tuple[str, ...] = option("checkers", COMMON_CHECKERS)
    """Checkers that tell whether the job is beyond recovery: built-in and registered ones, instances of them."""

    target: RollbackTarget = option("target", RollbackTarget.LAST)
    """`LAST` goes back to the parallelism with which the job was last well, `FIRST` to the first one it had."""

    observation: PositiveDuration = option("observation", timedelta(minutes=15))
    """How long after it began to run as wanted a rescale is held to account for what becomes of the job."""

    gc_pressure: Annotated[float, Interval(ge=0, le=1)] = option("gc-pressure", 0.5)
    """Share of time in garbage collection that counts as sick; `memory.gc-pressure.threshold` wins where it is set."""

    heap_usage: Annotated[float, Interval(ge=0, le=1)] = option("heap-usage", 0.95)
    """Share of the heap in use that counts as sick; `memory.heap-usage.threshold` wins where it is set."""

    pressure_after: Duration = option("pressure-after", timedelta(minutes=2))
    """
    How long the job must have run as wanted before its garbage collection and heap use count; they are means. At most
    until the next decision, which is after `stabilization.interval` and half of `metrics.window`.
    """

    memory_failures: Count = option("memory-failures", 2)
    """Failures for want of memory within `restart-window` that count as sick: network buffers, or heap."""

    restarts: Count = option("restarts", 3)
    """Failures within `restart-window` that count as a restart loop, on top of those in an equal time before."""

    restart_window: PositiveDuration = option("restart-window", timedelta(minutes=10))
    """How far back failures count, those before the rescale never do."""

    never_running: PositiveDuration = option("never-running", timedelta(minutes=5))
    """How long a job may be down after a rescale before it counts as lost; `restart.time` at least."""

    not_reached: PositiveDuration = option("not-reached", timedelta(minutes=10))
    """How long at least a job runs on as before a rescale, until that counts as one that will not come."""

    pause: Duration | None = option("pause", None)
    """How long nothing is scaled after a rollback; unset: until the cluster is restarted."""

    bound_expiry: PositiveDuration = option("bound-expiry", timedelta(hours=24))
    """How long a parallelism that made the job sick is not crossed again."""
