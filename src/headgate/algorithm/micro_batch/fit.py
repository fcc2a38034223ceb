"""What a micro-batch costs, learnt from the batches of a query as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from headgate.model.micro_batch import MicroBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCost:
    """What one stage of a batch costs in task time."""

    tasks: int
    row_us: float
    """Of one row of the batch more, microseconds."""
    row_error_us: float
    """Half the width of its interval; infinite while nothing can be told."""
    overhead_ms: float
    """Of a batch however small, all tasks together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCosts:
    """What a batch of a query costs: `T(n) = a + sum over its stages of (overhead + rows * row) * ceil(P/n) / P`."""

    overhead_ms: float
    """a: outside of tasks."""
    overhead_error_ms: float
    """Half the width of its interval; infinite while nothing can be told."""
    stages: tuple[StageCost, ...]
    batches: int
    """How many it was learnt from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFit:
    """A running fit; a value, so that whoever holds one may go back to it."""

    def noting(self, batch: MicroBatch) -> Self:
        """Take a batch in; one that was warming says nothing."""
        raise NotImplementedError

    @property
    def costs(self) -> QueryCosts | None:
        """What is known by now; None before the first batch that counts."""
        raise NotImplementedError
