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
    # A narrow band, as a change costs seconds and no restart: batches do not overrun their trigger before it grows, and
    # fewer cores are given back as soon as they would do. Waves are steps, which keeps noise from flapping.
    "target.utilization.boundary": "0.07",
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
    # One query that dies after a change is one too many, and a mistake must not end scaling for good.
    "rollback.checkers": "restart-loop, never-running, not-reached, falls-behind",
    "rollback.restarts": "1",
    "rollback.pause": "10 min",
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

    An interval so short that planning nearly fills it is none.
    """
