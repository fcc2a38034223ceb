"""
A cluster's memory settings as Flink reads them: keys, older names, defaults, sizes and 32-bit fractions.

Names and defaults are those of Flink's `TaskManagerOptions` and `NettyShuffleEnvironmentOptions` (1.20, and 2.x).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from headgate.model.decision import ConfigChanges
from headgate.options.units import parse_memory_size


class Key(StrEnum):
    """A setting of a TaskManager's memory."""

    PROCESS_SIZE = "taskmanager.memory.process.size"
    FLINK_SIZE = "taskmanager.memory.flink.size"
    FRAMEWORK_HEAP = "taskmanager.memory.framework.heap.size"
    FRAMEWORK_OFF_HEAP = "taskmanager.memory.framework.off-heap.size"
    TASK_HEAP = "taskmanager.memory.task.heap.size"
    TASK_OFF_HEAP = "taskmanager.memory.task.off-heap.size"
    MANAGED_SIZE = "taskmanager.memory.managed.size"
    MANAGED_FRACTION = "taskmanager.memory.managed.fraction"
    NETWORK_MIN = "taskmanager.memory.network.min"
    NETWORK_MAX = "taskmanager.memory.network.max"
    NETWORK_FRACTION = "taskmanager.memory.network.fraction"
    METASPACE = "taskmanager.memory.jvm-metaspace.size"
    OVERHEAD_MIN = "taskmanager.memory.jvm-overhead.min"
    OVERHEAD_MAX = "taskmanager.memory.jvm-overhead.max"
    OVERHEAD_FRACTION = "taskmanager.memory.jvm-overhead.fraction"
    SEGMENT_SIZE = "taskmanager.memory.segment-size"
    BUFFERS_PER_CHANNEL = "taskmanager.network.memory.buffers-per-channel"
    FLOATING_BUFFERS = "taskmanager.network.memory.floating-buffers-per-gate"


OLD_MANAGED_SIZE = "taskmanager.memory.size"
OLDER_NAMES: Mapping[Key, str] = {
    Key.MANAGED_SIZE: OLD_MANAGED_SIZE,
    Key.NETWORK_MIN: "taskmanager.network.memory.min",
    Key.NETWORK_MAX: "taskmanager.network.memory.max",
    Key.NETWORK_FRACTION: "taskmanager.network.memory.fraction",
}
"""Names that hold where the present one is not set."""

DEFAULTS: Mapping[Key, str] = {
    Key.FRAMEWORK_HEAP: "128 mb",
    Key.FRAMEWORK_OFF_HEAP: "128 mb",
    Key.TASK_OFF_HEAP: "0 bytes",
    Key.MANAGED_FRACTION: "0.4",
    Key.NETWORK_MIN: "64 mb",
    Key.NETWORK_MAX: f"{2**63 - 1} bytes",
    Key.NETWORK_FRACTION: "0.1",
    Key.METASPACE: "256 mb",
    Key.OVERHEAD_MIN: "192 mb",
    Key.OVERHEAD_MAX: "1 gb",
    Key.OVERHEAD_FRACTION: "0.1",
    Key.SEGMENT_SIZE: "32 kb",
    Key.BUFFERS_PER_CHANNEL: "2",
    Key.FLOATING_BUFFERS: "8",
}


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """The settings as they are written; every reading raises ValueError for a text that Flink would refuse."""

    texts: Mapping[str, str]

    def sets(self, key: Key) -> bool:
        """Tell whether a setting is written, be it under its older name."""
        return key in self.texts or OLDER_NAMES.get(key) in self.texts

    def size(self, key: Key) -> int:
        """Give a size in bytes."""
        return parse_memory_size(self._text(key))

    def count(self, key: Key) -> int:
        """Give a whole number."""
        return int(self._text(key))

    def fraction(self, key: Key) -> float:
        """Give a share as the 32-bit float that Flink keeps: 0.1 is a little more than a tenth."""
        return float(np.float32(self._text(key)))

    def with_changes(self, changes: ConfigChanges) -> MemoryConfig:
        """Give the settings as they are after a change."""
        kept = {key: text for key, text in self.texts.items() if key not in changes.removals}
        return MemoryConfig({**kept, **changes.overrides})

    def _text(self, key: Key) -> str:
        text = self.texts.get(key, self.texts.get(OLDER_NAMES.get(key, key), DEFAULTS.get(key)))
        if text is None:
            message = f"{key} is not set and has no default"
            raise ValueError(message)
        return text
