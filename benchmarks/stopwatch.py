"""Wall and CPU time by phase, of this process and everything that it started."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil


@dataclass(frozen=True, slots=True)
class Spent:
    """What a phase took, in seconds."""

    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        """Add both times."""
        return Spent(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Spent) -> Spent:
        """Take away a phase that lay inside this one."""
        return Spent(self.wall - other.wall, self.cpu - other.cpu)


@dataclass
class Stopwatch:
    """Adds up what each phase takes; `apart` are processes that are not ours, like the server that is asked."""

    apart: frozenset[int] = frozenset()
    phases: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a block as part of a phase."""
        wall, cpu = time.perf_counter(), self._cpu()
        try:
            yield
        finally:
            self.phases[name] += Spent(time.perf_counter() - wall, self._cpu() - cpu)

    def timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a call so that it counts for a phase."""

        def wrapped(*arguments: object) -> Any:
            with self.phase(name):
                return call(*arguments)

        return wrapped

    def _cpu(self) -> float:
        own = psutil.Process()
        ours = [own, *(child for child in own.children(recursive=True) if child.pid not in self.apart)]
        return sum(_cpu_of(process) for process in ours)


def _cpu_of(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system + times.children_user + times.children_system
