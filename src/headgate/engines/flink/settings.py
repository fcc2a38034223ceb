"""
Reads the cluster's own settings that bound how fast a change can be seen and made.

Flink 2.0 (FLIP-472) renamed several keys; both names are read, the newer one wins. What is not set has Flink's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.model.samples import EngineSettings
from headgate.options.units import parse_duration

_ADAPTIVE_SCHEDULER = "jobmanager.adaptive-scheduler."
_COOLDOWN = (
    f"{_ADAPTIVE_SCHEDULER}executing.cooldown-after-rescaling",
    f"{_ADAPTIVE_SCHEDULER}scaling-interval.min",
)
_STABILIZATION = (
    f"{_ADAPTIVE_SCHEDULER}executing.resource-stabilization-timeout",
    f"{_ADAPTIVE_SCHEDULER}scaling-interval.max",
)
_REFRESH = ("metrics.fetcher.update-interval",)
_SCHEDULER = "jobmanager.scheduler"
_MODE = "scheduler-mode"
_NEVER_MS = 2**62
"""Flink writes "no periodic checkpoints" as the largest long."""

Config = Mapping[str, str]


def read_config(answer: Any) -> Config:
    """Read `/jobmanager/config`, a list of keys and values."""
    return {entry["key"]: entry["value"] for entry in answer}


def read_checkpoint_interval(answer: Any) -> float | None:
    """Read the seconds between checkpoints of `/jobs/:id/checkpoints/config`; None when there are no periodic ones."""
    interval_ms = int(answer["interval"])
    return interval_ms / 1000 if 0 < interval_ms < _NEVER_MS else None


def settings_of(config: Config | None, checkpoint_interval_s: float | None, *, adaptive: bool | None) -> EngineSettings:
    """
    Put the settings of a job together.

    Args:
        config: the JobManager's configuration; None when it could not be asked, which leaves Flink's defaults.
        checkpoint_interval_s: None when checkpoints are off or unknown.
        adaptive: what the job says of its own scheduler; None leaves it to the configuration.
    """
    defaults = EngineSettings()
    known = config or {}
    return EngineSettings(
        checkpoint_interval_s=checkpoint_interval_s,
        rescale_cooldown_s=_seconds(known, _COOLDOWN, defaults.rescale_cooldown_s),
        resource_stabilization_s=_seconds(known, _STABILIZATION, defaults.resource_stabilization_s),
        metric_refresh_s=_seconds(known, _REFRESH, defaults.metric_refresh_s),
        adaptive=_is_adaptive(config, adaptive),
    )


def _is_adaptive(config: Config | None, job: bool | None) -> bool:  # noqa: FBT001 -- three-valued, not a switch
    if config is None:
        return job is not False
    if config.get(_MODE, "").lower() == "reactive":
        return False  # the scheduler is the adaptive one, but takes no orders
    return job if job is not None else config.get(_SCHEDULER, "default").lower() == "adaptive"


def _seconds(config: Config, keys: tuple[str, ...], default: float) -> float:
    for key in keys:
        if key in config:
            return _read_seconds(config[key], default)
    return default


def _read_seconds(text: str, default: float) -> float:
    """Read a duration as Flink does: a bare number is milliseconds."""
    try:
        return float(text) / 1000 if text.strip().isdigit() else parse_duration(text).total_seconds()
    except ValueError:
        return default
