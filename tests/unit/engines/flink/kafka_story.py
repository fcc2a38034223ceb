"""What the stories of sources that read Kafka are told with: brokers that a test sets, and what a sample tells."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey, VertexId
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure, Measure
from headgate.model.samples import JobSample
from headgate.ports import Begins, Ends, JobContext, Missing

SOURCE = VertexId("s" * 32)


@dataclass
class Brokers:
    """End offsets as a test sets them; a text is why there are none, None that nobody answers."""

    ends: list[float] | str | None = field(default_factory=lambda: [0.0] * 4)
    begin: float | None = None
    declared: bool = True

    def serves(self, ctx: JobContext, /) -> bool:
        """Serve the job, unless no brokers are declared for it."""
        return self.declared and bool(ctx)

    async def read(self, ctx: JobContext, topics: Collection[str], at: datetime, /) -> Ends | Missing:
        """Tell what was set."""
        assert (set(topics), ctx.key.name, at.tzinfo is not None) == ({"input"}, "orders", True)
        if self.ends is None:
            message = "nobody is there"
            raise UnreachableError(message)
        if isinstance(self.ends, str):
            return Missing(why=self.ends)
        return {("input", number): end for number, end in enumerate(self.ends)}

    def forget(self, job: JobKey, /) -> None:
        """Remember nothing anyway."""

    async def begins(self, ctx: JobContext, topics: Collection[str], /) -> Begins | Missing:
        """Tell what was set; by default nobody knows."""
        assert (set(topics), ctx.key.name) == ({"input"}, "orders")
        if self.begin is None:
            return Missing(why="nobody knows")
        return {("input", number): self.begin for number in range(4)}


def told(sample: JobSample) -> tuple[float | None, LagOrigin]:
    """Give what waits, and where that is known from."""
    seen = sample.vertices.get(SOURCE)
    return seen.values.get(Measure.LAG) if seen else None, LagOrigin(int(sample.values[JobMeasure.LAG_ORIGIN]))
