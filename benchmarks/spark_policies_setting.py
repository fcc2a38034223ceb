"""What all runs of the comparison on Spark have in common, and the policies that it compares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.spark_load import Load
from benchmarks.spark_optimum import BatchCost

INTERVAL_S = 2.0
"""Between two triggers."""
PARTITIONS = 12
WORKERS = 6
"""Of one core each: the most executors that there can be."""
ROW_MS = 4.0
"""How long a row keeps a core."""
AIM = 0.62
"""
Share of its interval that Headgate lets a batch take, of what its size could do. The load rises while executors start,
and with fewer cores than the size for the peak a batch of a fully used size takes longer than one at the peak.
"""
LEAST = 0.5
"""
Share of its interval from which on Headgate keeps a size. The next smaller one could do 41 to 73 % as much: so it is
chosen about when it would be used as far as Headgate aims at, and far earlier than with the default lower end.
"""
LASTS = "8 s"
"""For how long fewer cores must do: two of Headgate's looks, four batches."""
WINDOW = "12 s"
"""Over which Headgate takes the mean: six batches."""
MOST_ROWS = 2500
"""Of a batch: more than the highest load brings in an interval, so that a backlog can drain."""

CALIBRATED: Mapping[int, Load] = {
    1: Load(seed=0, duration_s=120, lead_s=30, least_per_s=20, amplitude_per_s=15, step_per_s=35),
    WORKERS: Load(seed=0, duration_s=120, lead_s=30),
}
"""Sizes at which the cost of a batch is measured beforehand, each with a load that it can bear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What decides about the executors, as the application is told."""

    conf: Mapping[str, str] = field(default_factory=dict)
    """Of Spark."""
    begins_with: int | None = None
    """Executors; None: those that Spark gives it."""
    attached: Mapping[str, str] | None = None
    """Headgate's options; None: without it."""


def static(cores: int) -> Policy:
    """Keep as many executors as somebody set."""
    return Policy(conf={"spark.cores.max": str(cores)}, begins_with=cores)


def dynamic_allocation(begins_with: int) -> Policy:
    """Let Spark decide by its own dynamic allocation, from one executor to all."""
    dynamic = "spark.dynamicAllocation"
    conf = {
        f"{dynamic}.enabled": "true",
        f"{dynamic}.shuffleTracking.enabled": "true",
        f"{dynamic}.minExecutors": "1",
        f"{dynamic}.initialExecutors": str(begins_with),
        f"{dynamic}.maxExecutors": str(WORKERS),
        # With both, Spark warns, idle executors are kept for longer.
        "spark.decommission.enabled": "false",
    }
    return Policy(conf=conf)


def headgate(begins_with: int) -> Policy:
    """
    Attach Headgate, with its defaults but for target, band, window, and how long fewer cores must do.

    The default band is wide, the default window holds ten batches, and a lull must last for 30 s, lest the noise of a
    real load start and end executors; this load has none.
    """
    options = {
        "job.autoscaler.metrics.window": WINDOW,
        "job.autoscaler.utilization.target": str(AIM),
        "job.autoscaler.utilization.max": str(AIM),
        "job.autoscaler.utilization.min": str(LEAST),
        "job.autoscaler.scale-down.interval": LASTS,
        "job.autoscaler.vertex.max-parallelism": str(WORKERS),
    }
    return Policy(begins_with=begins_with, attached=options)


POLICIES: Mapping[str, Callable[[Load, BatchCost], Policy]] = {
    "mean": lambda load, cost: static(cost.cores_for(load.mean_per_s)),
    "peak": lambda load, cost: static(cost.cores_for(load.peak_per_s)),
    "dynamic": lambda load, cost: dynamic_allocation(cost.cores_for(load.first_per_s)),
    "headgate": lambda load, cost: headgate(cost.cores_for(load.first_per_s)),
}
"""All of them know what a batch costs before they begin, none of them the load to come but the static ones."""
