"""
The waits that Flink's own scheduler keeps: what they are set to, and what they mean. They are told, never imitated.

Flink 2.3 tells those of a job's scheduler as they hold (`/jobs/:id/rescales/config`). Before, and for the heartbeats,
the cluster's settings are read, with Flink's defaults where nothing is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from headgate.options.units import format_duration, parse_duration

_SCHEDULER = "jobmanager.adaptive-scheduler."
_MODE = "scheduler-mode"
_REACTIVE = "reactive"
_FOREVER = timedelta(milliseconds=-1)

Config = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One wait as it holds."""

    key: str
    """Flink's setting."""
    value: str
    """For people: `30 s`, `without limit`, a count."""
    means: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    key: str
    means: str
    default: timedelta | int | None
    """None: Flink derives it."""
    reactive: timedelta | None = None
    """The default in reactive mode, where it differs."""
    older: tuple[str, ...] = ()
    """Its names before Flink 2.0."""
    told: str | None = field(default=None)
    """Its name in `/jobs/:id/rescales/config`."""


_SETTINGS = (
    _Setting(
        key=f"{_SCHEDULER}submission.resource-wait-timeout",
        older=(f"{_SCHEDULER}resource-wait-timeout",),
        told="submissionResourceWaitTimeoutInMillis",
        default=timedelta(minutes=5),
        reactive=_FOREVER,
        means="at start, and after the last worker is lost: how long the job waits for any slot before it fails",
    ),
    _Setting(
        key=f"{_SCHEDULER}submission.resource-stabilization-timeout",
        older=(f"{_SCHEDULER}resource-stabilization-timeout",),
        told="submissionResourceStabilizationTimeoutInMillis",
        default=timedelta(seconds=10),
        reactive=timedelta(),
        means="at start, and after a worker is lost: how long it waits for more slots once there are enough to run",
    ),
    _Setting(
        key=f"{_SCHEDULER}executing.cooldown-after-rescaling",
        older=(f"{_SCHEDULER}scaling-interval.min",),
        told="executingCooldownTimeoutInMillis",
        default=timedelta(seconds=30),
        means="after a rescale: how long new slots and new requirements are not looked at",
    ),
    _Setting(
        key=f"{_SCHEDULER}executing.resource-stabilization-timeout",
        older=(f"{_SCHEDULER}scaling-interval.max",),
        told="executingResourceStabilizationTimeoutInMillis",
        default=timedelta(minutes=1),
        means="with more slots, but not all that are asked for: how long it waits before it takes what there is",
    ),
    _Setting(
        key=f"{_SCHEDULER}rescale-trigger.max-delay",
        told="maximumDelayForTriggeringRescaleInMillis",
        default=None,
        means="a rescale waits for the next checkpoint, but no longer than this",
    ),
    _Setting(
        key=f"{_SCHEDULER}rescale-trigger.max-checkpoint-failures",
        told="rescaleOnFailedCheckpointCount",
        default=2,
        means="so many failed checkpoints in a row, and a rescale waits for them no more",
    ),
    _Setting(
        key="slot.idle.timeout",
        told="slotIdleTimeoutInMillis",
        default=timedelta(seconds=50),
        means="a slot that one job lets go of is kept for so long before another job can have it",
    ),
    _Setting(
        key="heartbeat.interval",
        default=timedelta(seconds=10),
        means="how often workers are asked whether they live",
    ),
    _Setting(
        key="heartbeat.timeout",
        default=timedelta(seconds=50),
        means="a worker that is silent for so long is lost; one whose process ended is noticed sooner",
    ),
    _Setting(
        key="web.timeout",
        default=timedelta(minutes=10),
        means="where a worker dies while it is asked for metrics, those of all stand still for so long",
    ),
)


def waits(config: Config | None, told: Mapping[str, Any] | None) -> tuple[Wait, ...]:
    """
    Give every wait.

    Args:
        config: the JobManager's settings; None when unknown, which leaves Flink's defaults.
        told: what `/jobs/:id/rescales/config` says; None before Flink 2.3.
    """
    return tuple(
        Wait(key=each.key, value=_value(each, config or {}, told or {}), means=each.means) for each in _SETTINGS
    )


def _value(setting: _Setting, config: Config, told: Mapping[str, Any]) -> str:
    known = told.get(setting.told) if setting.told else None
    if known is not None:
        return str(known) if isinstance(setting.default, int) else _words(timedelta(milliseconds=known))
    written = next((config[key] for key in (setting.key, *setting.older) if key in config), None)
    if written is not None:
        return _words(_duration(written)) if isinstance(setting.default, timedelta) else written
    return _default(setting, config)


def _default(setting: _Setting, config: Config) -> str:
    if setting.reactive is not None and config.get(_MODE, "").lower() == _REACTIVE:
        return _words(setting.reactive)
    if isinstance(setting.default, timedelta):
        return _words(setting.default)
    return "by the checkpoint interval" if setting.default is None else str(setting.default)


def _duration(text: str) -> timedelta | str:
    """Read a duration as Flink does: a bare number is milliseconds; a text that is none stays."""
    try:
        stripped = text.strip()
        return timedelta(milliseconds=int(stripped)) if stripped.lstrip("-").isdecimal() else parse_duration(text)
    except ValueError:
        return text


def _words(value: timedelta | str) -> str:
    if isinstance(value, str):
        return value
    return "without limit" if value < timedelta() else format_duration(value)
