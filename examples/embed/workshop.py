"""A toy engine: a workshop with benches. Time passes when it is told to, and nothing of it knows Headgate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Line:
    """One line of work: pieces come in, and so many benches work on them."""

    name: str
    pieces_per_s: float
    """What comes in."""
    pieces_per_bench_s: float
    """What one bench can do."""
    benches: int = 1
    done: float = 0.0
    waiting: float = 0.0
    busy_ms: float = 0.0
    started_s: float = 0.0

    def work(self, seconds: float) -> None:
        """Let time pass."""
        due = self.waiting + self.pieces_per_s * seconds
        able = self.pieces_per_bench_s * self.benches * seconds
        done = min(due, able)
        self.done += done
        self.waiting = due - done
        self.busy_ms += done / self.pieces_per_bench_s * 1000


class Workshop:
    """All lines, and a clock."""

    def __init__(self, *lines: Line) -> None:
        """Begin at second 0."""
        self.lines = {line.name: line for line in lines}
        self.now_s = 0.0

    def work(self, seconds: float) -> None:
        """Let time pass for every line."""
        for line in self.lines.values():
            line.work(seconds)
        self.now_s += seconds

    def rebuild(self, name: str, benches: int) -> None:
        """Give a line another number of benches; its counters begin at zero, as after any restart."""
        line = self.lines[name]
        line.benches, line.started_s = benches, self.now_s
        line.done = line.busy_ms = 0.0
