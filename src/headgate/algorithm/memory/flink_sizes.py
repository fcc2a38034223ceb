"""
Flink's own derivation of a TaskManager's pools from its settings, in bytes.

Source: Flink's `TaskExecutorProcessUtils`, `ProcessMemoryUtils` and `TaskExecutorFlinkMemoryUtils` (1.20, the same in
2.x). What Flink refuses to start with raises ValueError here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from headgate.algorithm.memory.config import Key, MemoryConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class FlinkMemory:
    """The pools that Flink uses itself (`TaskExecutorFlinkMemory`)."""

    framework_heap: int
    framework_off_heap: int
    task_heap: int
    task_off_heap: int
    managed: int
    network: int

    @property
    def heap(self) -> int:
        """The JVM's heap."""
        return self.framework_heap + self.task_heap

    @property
    def total(self) -> int:
        """Flink's total memory."""
        return self.heap + self.framework_off_heap + self.task_off_heap + self.managed + self.network


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessMemory:
    """A whole TaskManager: Flink's pools and what the JVM needs beside them (`CommonProcessMemorySpec`)."""

    flink: FlinkMemory
    metaspace: int
    overhead: int

    @property
    def total(self) -> int:
        """The memory of the process."""
        return self.flink.total + self.metaspace + self.overhead


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """
    A pool that is a share of something, within bounds (`RangeFraction`).

    Raises:
        ValueError: the bounds are the wrong way round, or the fraction is not in [0, 1).
    """

    name: str
    fraction: float
    least: int = 0
    most: int = 2**63 - 1

    def __post_init__(self) -> None:
        """Refuse what Flink refuses."""
        if not 0 <= self.fraction < 1:
            message = f"the fraction of {self.name} memory is {self.fraction:g}, which is not in [0, 1)"
            raise ValueError(message)
        if self.least > self.most:
            message = f"the least {self.name} memory, {self.least} bytes, is above the most, {self.most} bytes"
            raise ValueError(message)

    def of(self, total: int) -> int:
        """Give the pool's bytes as a share of a total that holds it."""
        return self._bounded(multiply(total, self.fraction))

    def beside(self, rest: int) -> int:
        """Give the pool's bytes from the rest of the total, without the pool itself."""
        return self._bounded(multiply(rest, self.fraction / (1 - self.fraction)))

    def checked(self, size: int) -> int:
        """
        Give a size that was derived otherwise.

        Raises:
            ValueError: it is out of bounds.
        """
        if not self.least <= size <= self.most:
            message = f"{size} bytes are left for {self.name} memory, outside its [{self.least}, {self.most}]"
            raise ValueError(message)
        return size

    def _bounded(self, size: int) -> int:
        return max(self.least, min(size, self.most))


def multiply(size: int, factor: float) -> int:
    """Multiply as `MemorySize.multiply` does: exactly with the factor's decimal digits, rounded down."""
    return int(size * Fraction(repr(factor)))


def derive_memory(config: MemoryConfig) -> ProcessMemory:
    """
    Give the pools of a TaskManager with these settings.

    Raises:
        ValueError: no total is set, a text cannot be read, or the parts do not fit into their total.
    """
    if config.sets(Key.FLINK_SIZE):
        return _around(_within(config.size(Key.FLINK_SIZE), config), config)
    if config.sets(Key.TASK_HEAP) and config.sets(Key.MANAGED_SIZE):
        return _around(_from_parts(config), config)
    if config.sets(Key.PROCESS_SIZE):
        return _inside(config.size(Key.PROCESS_SIZE), config)
    message = (
        f"no total memory is set. Hint: set {Key.PROCESS_SIZE}, {Key.FLINK_SIZE}, "
        f"or both {Key.TASK_HEAP} and {Key.MANAGED_SIZE}"
    )
    raise ValueError(message)


def _inside(process: int, config: MemoryConfig) -> ProcessMemory:
    """Begin with the process: Flink gets what the JVM leaves."""
    metaspace, overhead = config.size(Key.METASPACE), _overhead(config).of(process)
    flink = _left(process, metaspace + overhead, "metaspace and overhead", Key.PROCESS_SIZE)
    return ProcessMemory(flink=_within(flink, config), metaspace=metaspace, overhead=overhead)


def _around(flink: FlinkMemory, config: MemoryConfig) -> ProcessMemory:
    """Begin with Flink's memory: the overhead is what a set process size leaves, else its share."""
    metaspace, overhead = config.size(Key.METASPACE), _overhead(config)
    inner = flink.total + metaspace
    if config.sets(Key.PROCESS_SIZE):
        size = overhead.checked(config.size(Key.PROCESS_SIZE) - inner)
    else:
        size = overhead.beside(inner)
    return ProcessMemory(flink=flink, metaspace=metaspace, overhead=size)


def _within(total: int, config: MemoryConfig) -> FlinkMemory:
    """Divide Flink's memory: the task heap takes the rest, or the network pool where the task heap is set."""
    managed, fixed = _managed(total, config), _fixed(config)
    if config.sets(Key.TASK_HEAP):
        task_heap = config.size(Key.TASK_HEAP)
        network = _network(config).checked(total - fixed - managed - task_heap)
    else:
        network = _network(config).of(total)
        task_heap = _left(total, fixed + managed + network, "managed, network and fixed pools", "Flink's memory")
    return _flink_memory(config, task_heap=task_heap, managed=managed, network=network)


def _from_parts(config: MemoryConfig) -> FlinkMemory:
    """Build Flink's memory from the two parts that are enough to know it."""
    task_heap, managed = config.size(Key.TASK_HEAP), config.size(Key.MANAGED_SIZE)
    network = _network(config).beside(_fixed(config) + task_heap + managed)
    return _flink_memory(config, task_heap=task_heap, managed=managed, network=network)


def _flink_memory(config: MemoryConfig, *, task_heap: int, managed: int, network: int) -> FlinkMemory:
    return FlinkMemory(
        framework_heap=config.size(Key.FRAMEWORK_HEAP),
        framework_off_heap=config.size(Key.FRAMEWORK_OFF_HEAP),
        task_heap=task_heap,
        task_off_heap=config.size(Key.TASK_OFF_HEAP),
        managed=managed,
        network=network,
    )


def _fixed(config: MemoryConfig) -> int:
    return sum(config.size(key) for key in (Key.FRAMEWORK_HEAP, Key.FRAMEWORK_OFF_HEAP, Key.TASK_OFF_HEAP))


def _managed(total: int, config: MemoryConfig) -> int:
    if config.sets(Key.MANAGED_SIZE):
        return config.size(Key.MANAGED_SIZE)
    return Share(name="managed", fraction=config.fraction(Key.MANAGED_FRACTION)).of(total)


def _network(config: MemoryConfig) -> Share:
    return Share(
        name="network",
        fraction=config.fraction(Key.NETWORK_FRACTION),
        least=config.size(Key.NETWORK_MIN),
        most=config.size(Key.NETWORK_MAX),
    )


def _overhead(config: MemoryConfig) -> Share:
    return Share(
        name="JVM overhead",
        fraction=config.fraction(Key.OVERHEAD_FRACTION),
        least=config.size(Key.OVERHEAD_MIN),
        most=config.size(Key.OVERHEAD_MAX),
    )


def _left(total: int, taken: int, parts: str, whole: str) -> int:
    if taken > total:
        message = f"{parts} take {taken} bytes, {whole} has only {total}"
        raise ValueError(message)
    return total - taken
