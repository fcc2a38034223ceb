"""Micro-batch queries (Spark Structured Streaming): how long a batch may take, and what holds where nothing is set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration

DEFAULTS: Mapping[str, str] = {
    "metric.evaluator.class": "micro-batch",
    # Cores that lower the number of waves by none only idle.
    "scaling.parallelism-alignment.mode": "WAVES",
    # A handful of batches: what came is counted from trigger to trigger, so a short window is exact already.
    "metrics.window": "20 s",
    # An application counts as running since its first batch on the executors that it has: that one was the slow one.
    "stabilization.interval": "0 s",
    # Tasks may fill so much of a batch's period. Little reserve is needed: a batch that overruns delays nothing but the
    # next one, and executors come in seconds.
    "utilization.target": "0.8",
    # What keeps noise from flapping; beside it waves are steps already.
    "target.utilization.boundary": "0.12",
    # Long enough for a lull of a few batches, short enough to follow an ebbing load.
    "scale-down.interval": "30 s",
    # The pessimistic end of what batches cost has allowed it.
    "scale-down.max-factor": "1.0",
    "catch-up.duration": "60 s",
    # No query stops while executors come or go; what the change itself costs is measured.
    "restart.time": "1 s",
    # What was learnt of Flink's restarts does not hold here.
    "restart.time-model.enabled": "false",
    # Loads that are worth following change within minutes: fewer cores must pay off by then.
    "rescale.horizon": "10 min",
    "backlog-processing.lag-threshold": "10 s",
}
"""
Defaults of a Spark application, relative to `job.autoscaler.`: executors come and go in seconds, and no query stops.

What the user sets wins over them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatchOptions(Options):
    """Of one application, all of them Headgate's own."""

    target_duration: PositiveDuration = option("target-duration", timedelta(seconds=10))
    """
    How long a batch may take where its query has no trigger interval; with one, that is the bound.

    An interval so short that planning fills half of it is none.
    """
