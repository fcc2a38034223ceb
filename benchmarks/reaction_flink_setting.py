"""Reactions on real Flink: the job whose load steps up and down, who rescales it, and on which cluster."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from headgate.demo.loadjob import SINK, SOURCE, ConstantProfile, LoadJobSpec, Profile, Stage
from headgate.engines.flink.local.settings import LAB, Settings

Sizes = tuple[int, ...]
"""A parallelism of each of `VERTICES`."""

VERTICES = (SOURCE, "parse", "agg", SINK)
AGG = VERTICES.index("agg")
TASK_MANAGERS, SLOTS = 4, 2
UTILIZATION = 0.7
"""At which everybody aims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The job, its load, and how long everything is looked at."""

    parse_us: float = 200.0
    agg_us: float = 1500.0
    partitions: int = 12
    low_per_s: float = 400.0
    high_per_s: float = 1600.0
    warm_up_s: float = 20.0
    """Of the job alone, after it began to run: its first records cost more."""
    lead_s: float = 60.0
    """Of Headgate before the first step: its start, the stabilization interval and a whole window."""
    hold_s: float = 60.0
    """How long the right size must have run, and no backlog waited, before a step counts as answered."""
    lag_s: float = 0.5
    """So much of the load may wait without being a backlog: what a source emits late anyway."""
    steady_s: float = 300.0

    def job(self, profile: Profile, *, epoch: datetime) -> LoadJobSpec:
        """Make the job; checkpoints are the cluster's."""
        stages = (
            Stage(name="parse", cost_us=self.parse_us),
            Stage(name="agg", cost_us=self.agg_us, keyed=True),
        )
        return LoadJobSpec(stages=stages, profile=profile, epoch=epoch, partitions=self.partitions, name="reaction")

    def sizes(self, per_s: float) -> Sizes:
        """Give the least parallelism of each vertex that keeps it at or below the target utilization."""
        spec = self.job(ConstantProfile(per_s=per_s), epoch=datetime.now(UTC))
        need = spec.analytic_parallelism(per_s, UTILIZATION)
        return tuple(need[name] for name in VERTICES)

    def per_s(self, agg: int, share: float) -> float:
        """Give the load that keeps so many subtasks of the aggregation busy for such a share of their time."""
        return agg * share * 1e6 / self.agg_us


SETTING = Setting()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Flink's settings that make a difference here, and what follows from them for a measurement."""

    cooldown: str
    checkpoints: str
    phase_s: float
    """A step comes at random within so many seconds: the longest loop that it may meet at any point."""
    limit_s: float
    """A step that is not answered by then is not waited for any longer."""

    @property
    def settings(self) -> Settings:
        """Give Flink's own keys: those of the lab, in which nothing else waits, and metrics that are a second old."""
        return {
            **LAB,
            "metrics.fetcher.update-interval": "1000",
            "execution.checkpointing.interval": self.checkpoints,
            "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling": self.cooldown,
        }


CLUSTERS: Mapping[str, Cluster] = {
    "short": Cluster(cooldown="0 s", checkpoints="2 s", phase_s=10, limit_s=240),
    "stock": Cluster(cooldown="30 s", checkpoints="60 s", phase_s=60, limit_s=420),
}

STEERED: Mapping[str, object] = {
    "mode": "act",
    "pipeline": "in-process",
    "collect.interval": "1 s",
    "decide.interval": "5 s",
    # Else two of them on one machine want the same port.
    "metrics.enabled": False,
}
COMMON: Mapping[str, object] = {
    "utilization.target": UTILIZATION,
    "metrics.window": "30 s",
    "stabilization.interval": "10 s",
    "metrics.busy-time.aggregator": "AVG",
    "vertex.max-parallelism": TASK_MANAGERS * SLOTS,
    # Five minutes by default, on clusters of which nothing was learnt yet; here tasks are gone for half a second.
    "restart.time": "2 s",
}
REACTIONS: Mapping[str, Mapping[str, object]] = {
    "fast": {"headgate.reaction": "fast"},
    # By default it shrinks after an hour. Its steps of 60 % are left as they are: with them the reference takes two.
    "windowed": {"headgate.reaction": "windowed", "job.autoscaler.scale-down.interval": "0 s"},
}
SCRIPT = "script"
"""Asks for the right size at the instant of the step."""
ARMS = (*REACTIONS, SCRIPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Steady:
    """A load that the job has the right size for."""

    agg: int
    """Subtasks of the aggregation."""
    busy: float
    """Share of their time that it keeps them busy."""


STEADY_ARM = "fast"
"""Who is left alone with steady loads."""
STEADY_LOADS = (Steady(agg=1, busy=0.30), Steady(agg=4, busy=0.60), Steady(agg=4, busy=0.68))
"""Four subtasks that are 30 % busy are too many: the same job with one has nothing to give back."""
STEADY_RUNS: Mapping[str, tuple[Steady, str]] = {
    f"{aggregator} {steady.busy:.0%}": (steady, aggregator) for aggregator in ("AVG", "MAX") for steady in STEADY_LOADS
}
"""By name: the load, and how busy time is aggregated."""


def headgate(reaction: str, url: str, *, aggregator: str = "AVG") -> dict[str, object]:
    """Give the content of Headgate's file: the same for all but what they are named for."""
    common = {**COMMON, "metrics.busy-time.aggregator": aggregator}
    return {
        **STEERED,
        "clusters": [{"name": "bench", "url": url}],
        **{f"job.autoscaler.{key}": value for key, value in common.items()},
        **REACTIONS[reaction],
    }


def phase_s(cluster: str, arm: str, repeat: int, step: str) -> float:
    """Draw how much later than it could a step comes, the same for each series."""
    chance = random.Random(f"{cluster}/{arm}/{repeat}/{step}")  # noqa: S311 - a draw that can be repeated, no secret
    return round(chance.uniform(0, CLUSTERS[cluster].phase_s), 2)


def told() -> dict[str, Any]:
    """Give all of the above that makes a run comparable to another one."""
    return {
        "job": asdict(SETTING),
        "clusters": {name: asdict(cluster) for name, cluster in CLUSTERS.items()},
        "headgate": {name: headgate(name, "") for name in REACTIONS},
    }
