"""One stage of the load job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """An operator that takes a fixed time for each record, so that one subtask manages `1e6 / cost_us` a second."""

    name: str
    cost_us: float
    selectivity: float = 1.0
    """Records out per record in, 0 or more."""
    keyed: bool = False
    """Keyed with state; else plain, its input rebalanced."""
    inputs: tuple[str, ...] = ()
    """The stages (or `source`) that it reads, united; by default the stage before it."""

    def argument(self) -> str:
        """Return its part of the job's `stages` argument."""
        fields = f"{self.name}:{self.cost_us}:{self.selectivity}:{'k' if self.keyed else 'p'}"
        return f"{fields}<-{'+'.join(self.inputs)}" if self.inputs else fields
