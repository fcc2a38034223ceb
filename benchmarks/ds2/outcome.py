"""What came of a trial, and of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The way of one operator to its rest."""

    path: tuple[int, ...]
    """Its parallelisms, the initial one first."""
    optimum: int
    """The least that sustains the need."""
    sustains: bool = True
    """Whether the last one can truly do the work that comes in."""

    @property
    def steps(self) -> int:
        """How often it was rescaled."""
        return len(self.path) - 1

    @property
    def too_many(self) -> int:
        """By how much any parallelism that was chosen lies above the optimum, at most."""
        return max((parallelism - self.optimum for parallelism in self.path[1:]), default=0)

    @property
    def oscillates(self) -> bool:
        """Whether it came back to a parallelism that it had left."""
        return len(set(self.path)) < len(self.path)

    @property
    def end(self) -> int:
        """By how much the last parallelism lies above the optimum, negative below."""
        return self.path[-1] - self.optimum


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The 36 cells, counted as published: one that begins at its optimum counts as one step."""

    outcomes: Sequence[Outcome]

    @property
    def steps(self) -> dict[int, int]:
        """How many cells took so many steps."""
        return dict(sorted(Counter(max(1, each.steps) for each in self.outcomes).items()))

    @property
    def mean(self) -> float:
        """Steps of a cell."""
        return sum(steps * cells for steps, cells in self.steps.items()) / len(self.outcomes)

    @property
    def too_many(self) -> int:
        """Most instances too many on the way, in any cell."""
        return max(each.too_many for each in self.outcomes)

    @property
    def oscillations(self) -> int:
        """How many cells came back to a parallelism that they had left."""
        return sum(each.oscillates for each in self.outcomes)

    @property
    def ends(self) -> dict[int, int]:
        """How many cells end so many instances above their optimum."""
        return dict(sorted(Counter(each.end for each in self.outcomes).items()))
