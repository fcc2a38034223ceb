"""What a running service costs and says of itself: memory and CPU of all its processes, and its own metrics."""

from __future__ import annotations

import socket
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import psutil
from prometheus_client.parser import text_string_to_metric_families

_PATIENCE_S = 10.0
_MIB = 2**20
_TICKS, _EVENTS = "headgate_tick_", "headgate_events_total"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """The ticks of one kind of work since the service began."""

    count: int
    total_s: float
    last_at: float
    """Seconds since 1970."""
    last_s: float


def memory_mib(pid: int) -> float:
    """Give the resident memory of a process and everything that it started."""
    return _sum(pid, lambda process: process.memory_info().rss) / _MIB


def cpu_s(pid: int) -> float:
    """Give the CPU time of a process and everything that it started, those that have ended included."""
    return _sum(pid, lambda process: sum(process.cpu_times()[:4]))


def _sum(pid: int, of: Callable[[psutil.Process], float]) -> float:
    total = 0.0
    for process in _family(pid):
        try:
            total += of(process)
        except psutil.NoSuchProcess:
            continue
    return total


def _family(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


class Scrape:
    """A service's metrics at one instant."""

    def __init__(self, text: str) -> None:
        """Read Prometheus' text, what is of the service as a whole: the many series of the jobs would take a second."""
        lines = [line for line in text.splitlines() if any(name in line for name in (_TICKS, _EVENTS))]
        self._values: dict[str, dict[str, float]] = defaultdict(dict)
        for family in text_string_to_metric_families("\n".join([*lines, ""])):
            for sample in family.samples:
                self._values[sample.name][" ".join(sample.labels.values())] = sample.value

    @classmethod
    def of(cls, port: int) -> Scrape:
        """
        Ask a service on the loopback.

        Raises:
            OSError: it does not answer.
        """
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=_PATIENCE_S) as answer:
            return cls(answer.read().decode())

    def ticks(self, work: str) -> Ticks | None:
        """Give the ticks of one kind of work, `collect` or `decide`; None before the first is over."""
        if work not in self._named("last_duration_seconds"):
            return None
        return Ticks(
            count=int(self._named("duration_seconds_count")[work]),
            total_s=self._named("duration_seconds_sum")[work],
            last_at=self._named("last_timestamp_seconds")[work],
            last_s=self._named("last_duration_seconds")[work],
        )

    def events(self) -> int:
        """Count the events, the ones that were merged into others included."""
        return int(sum(self._values[_EVENTS].values()))

    def _named(self, name: str) -> Mapping[str, float]:
        return self._values[f"{_TICKS}{name}"]


def free_port() -> int:
    """Give a port of the loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
