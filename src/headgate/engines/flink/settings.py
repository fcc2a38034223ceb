"""
Reads the cluster's own settings: what bounds how fast a change can be seen and made, and how large a TaskManager is.

Flink 2.0 (FLIP-472) renamed several keys; both names are read, the newer one wins. What is not set has Flink's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.engines.flink.numbers import number
from headgate.engines.flink.workers import TaskManagerSize
from headgate.model.samples import EngineSettings
from headgate.options.units import parse_duration, parse_memory_size

_ADAPTIVE_SCHEDULER = "jobmanager.adaptive-scheduler."
_COOLDOWN = (
    f"{_ADAPTIVE_SCHEDULER}executing.cooldown-after-rescaling",
    f"{_ADAPTIVE_SCHEDULER}scaling-interval.min",
)
_STABILIZATION = (
    f"{_ADAPTIVE_SCHEDULER}executing.resource-stabilization-timeout",
    f"{_ADAPTIVE_SCHEDULER}scaling-interval.max",
)
_SLOT_IDLE = ("slot.idle.timeout",)
_REFRESH = ("metrics.fetcher.update-interval",)
_SCHEDULER = "jobmanager.scheduler"
_MODE = "scheduler-mode"
_SLOTS = "taskmanager.numberOfTaskSlots"
_CPUS = ("kubernetes.taskmanager.cpu.amount", "kubernetes.taskmanager.cpu", "taskmanager.cpu.cores")
"""What a TaskManager is given. What it reports by itself are the cores of its machine."""
_PROCESS_MEMORY = "taskmanager.memory.process.size"
_MEMORY = ("taskmanager.memory.", "taskmanager.network.memory.")
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


def settings_of(
    config: Config | None,
    checkpoint_interval_s: float | None,
    *,
    adaptive: bool | None,
    size: TaskManagerSize | None = None,
) -> EngineSettings:
    """
    Put the settings of a job together.

    Args:
        config: the JobManager's configuration; None when it could not be asked, which leaves Flink's defaults.
        checkpoint_interval_s: None when checkpoints are off or unknown.
        adaptive: what the job says of its own scheduler; None leaves it to the configuration.
        size: what the TaskManagers say of themselves, where the configuration says nothing; None when unknown.
    """
    defaults = EngineSettings()
    known = config or {}
    slots = _slots(known, size.slots if size else None)
    return EngineSettings(
        checkpoint_interval_s=checkpoint_interval_s,
        rescale_cooldown_s=_seconds(known, _COOLDOWN, defaults.rescale_cooldown_s),
        resource_stabilization_s=_seconds(known, _STABILIZATION, defaults.resource_stabilization_s),
        slot_idle_s=_seconds(known, _SLOT_IDLE, defaults.slot_idle_s),
        metric_refresh_s=_seconds(known, _REFRESH, defaults.metric_refresh_s),
        adaptive=_is_adaptive(config, adaptive),
        reactive=_is_reactive(known),
        slots_per_task_manager=slots or defaults.slots_per_task_manager,
        slots_per_task_manager_known=slots is not None,
        task_manager_cpus=_cpus(known),
        task_manager_memory_bytes=_process_memory(known, size.memory_bytes if size else None),
        memory={key: value for key, value in known.items() if key.startswith(_MEMORY)},
    )


def _slots(config: Config, reported: int | None) -> int | None:
    written = config.get(_SLOTS, "").strip()
    return int(written) if written.isdecimal() and int(written) > 0 else reported


def _cpus(config: Config) -> float | None:
    return next((cpus for key in _CPUS if (cpus := _positive(config.get(key))) is not None), None)


def _positive(text: str | None) -> float | None:
    """Read a positive number; Flink writes an amount that is not set as -1."""
    try:
        found = number(text)
    except ValueError:
        return None
    return found if found and found > 0 else None


def _process_memory(config: Config, reported: int | None) -> int | None:
    try:
        return parse_memory_size(config[_PROCESS_MEMORY])
    except (KeyError, ValueError):
        return reported


def _is_adaptive(config: Config | None, job: bool | None) -> bool:  # noqa: FBT001 -- three-valued, not a switch
    if config is None:
        return job is not False
    if _is_reactive(config):
        return False  # the scheduler is the adaptive one, but takes no orders
    return job if job is not None else config.get(_SCHEDULER, "default").lower() == "adaptive"


def _is_reactive(config: Config) -> bool:
    return config.get(_MODE, "").strip().lower() == "reactive"


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
