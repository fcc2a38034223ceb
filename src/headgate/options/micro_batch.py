"""Micro-batch queries (Spark Structured Streaming): how long a batch may take, and what holds where nothing is set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration

DEFAULTS: Mapping[str, str] = {
    "metric.evaluator.class": "micro-batch",
    "scaling.parallelism-alignment.mode": "WAVES",
    "metrics.window": "20 s",
    "stabilization.interval": "10 s",
    "scale-down.interval": "30 s",
    "catch-up.duration": "60 s",
    "restart.time": "5 s",
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
    """How long a batch may take where its query has no trigger interval; with one, that is the bound."""
