"""What the local cluster's processes are told: the settings that it cannot do without, and presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from headgate.engines.flink.local.loopback import HOST
from headgate.options.units import parse_memory_size

Settings = Mapping[str, str]

_MEMORY = "taskmanager.memory."
_HEAP = ("framework.heap.size", "task.heap.size")
_DIRECT = ("framework.off-heap.size", "task.off-heap.size", "network.max")

STOCK: Settings = MappingProxyType({})
"""Flink's own defaults: 30 s cooldown, 60 s stabilization, 10 s metric fetcher, no checkpoints."""

LAB: Settings = MappingProxyType(
    {
        # A rescale starts at the next checkpoint and waits for nothing else.
        "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling": "0 s",
        "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout": "1 s",
        "jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout": "1 s",
        "execution.checkpointing.interval": "2 s",
        # What REST tells is fresh, and tells of past rescales.
        "web.refresh-interval": "100",
        "web.adaptive-scheduler.rescale-history.size": "50",
        "metrics.fetcher.update-interval": "500",
        # A backlog shows in pendingRecords, instead of hiding in network buffers and delaying checkpoints.
        "taskmanager.memory.segment-size": "4kb",
        "taskmanager.memory.min-segment-size": "256b",
        "taskmanager.network.memory.buffer-debloat.enabled": "true",
        "taskmanager.network.memory.buffer-debloat.target": "200ms",
        # A lost TaskManager is noticed in seconds, and its metrics are not waited for, which holds up all others'.
        "web.timeout": "20 s",
        "heartbeat.interval": "2000",
        "heartbeat.timeout": "10000",
    }
)
"""For tests and the demo: everything that only makes one wait is short."""

REACTIVE: Settings = MappingProxyType(
    {
        **LAB,
        "scheduler-mode": "reactive",
        # Where a TaskManager dies while it is asked for its metrics, those of all others stand still for so long.
        "web.timeout": "5 s",
        # TaskManagers that somebody else started end by themselves soon after the cluster.
        "taskmanager.registration.timeout": "30 s",
    }
)
"""For the cluster of one application whose job uses whatever TaskManagers there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The JobManager's ports; fixed, so that it can be started again at the same place."""

    rest: int
    rpc: int
    blob: int


def required_settings(*, ports: Ports, slots: int, directory: Path) -> dict[str, str]:
    """Return what makes a session cluster start without Flink's scripts, on loopback alone."""
    return (
        _addresses(ports)
        | _task_manager_resources(slots)
        | _places(directory)
        | {
            "jobmanager.scheduler": "adaptive",
            # Else a TaskManager that is up before the JobManager tries again only after 10 s.
            "cluster.registration.error-delay": "500",
        }
    )


def _addresses(ports: Ports) -> dict[str, str]:
    return {
        "jobmanager.rpc.address": HOST,
        "jobmanager.bind-host": HOST,
        "jobmanager.rpc.port": str(ports.rpc),
        "blob.server.port": str(ports.blob),
        "rest.address": HOST,
        "rest.bind-address": HOST,
        "rest.port": str(ports.rest),
        "rest.bind-port": str(ports.rest),
        "taskmanager.host": HOST,
        "taskmanager.bind-host": HOST,
    }


def _task_manager_resources(slots: int) -> dict[str, str]:
    """Every part has to be named, because Flink's start script, not here, would derive them from a total."""
    return {
        "taskmanager.numberOfTaskSlots": str(slots),
        "taskmanager.cpu.cores": str(float(slots)),
        "taskmanager.memory.framework.heap.size": "64m",
        "taskmanager.memory.task.heap.size": "256m",
        "taskmanager.memory.framework.off-heap.size": "64m",
        "taskmanager.memory.task.off-heap.size": "32m",
        "taskmanager.memory.network.min": "64m",
        "taskmanager.memory.network.max": "64m",
        "taskmanager.memory.managed.size": "64m",
        "taskmanager.memory.jvm-metaspace.size": "160m",
        "taskmanager.memory.jvm-overhead.min": "64m",
        "taskmanager.memory.jvm-overhead.max": "64m",
    }


def memory_options(settings: Settings) -> tuple[str, ...]:
    """Return what a TaskManager's JVM must be told of these settings, as Flink's start script would."""
    heap, direct = (sum(parse_memory_size(settings[_MEMORY + part]) for part in parts) for parts in (_HEAP, _DIRECT))
    return (f"-Xms{heap}", f"-Xmx{heap}", f"-XX:MaxDirectMemorySize={direct}")


def _places(directory: Path) -> dict[str, str]:
    return {
        "io.tmp.dirs": str(directory / "tmp"),
        "execution.checkpointing.dir": (directory / "checkpoints").as_uri(),
        "execution.checkpointing.savepoint-dir": (directory / "savepoints").as_uri(),
    }


def render(settings: Settings) -> str:
    """Return the text of a `config.yaml`, one quoted value a line, in the order of the keys."""
    quoted = {key: value.replace("'", "''") for key, value in settings.items()}
    return "".join(f"{key}: '{quoted[key]}'\n" for key in sorted(quoted))
