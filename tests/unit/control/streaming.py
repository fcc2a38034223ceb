"""An engine whose jobs read what comes in, so that what is measured of them changes with their load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

from headgate.control.observation import Observation
from headgate.model.identity import JobKey
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, VertexSample
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, START, chain, context, sample
from headgate.testing.fakes import FakeEngine

FAST = AutoscalerOptions(
    reaction=Reaction.FAST,
    metrics_window=timedelta(minutes=1),
    stabilization_interval=timedelta(),
    scale_down_interval=timedelta(),
)
CALM = 1000.0
EARLIER = 1e6
"""Records that were read before the story begins."""
RETURNS = JobKey("prod", "returns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What comes into each source of a job."""

    rates: Mapping[float, float] = field(default_factory=lambda: {0: CALM})
    """Records/s from these seconds of the story on."""
    lag: float = 0.0
    """Records of it that wait to be read."""

    def arrived(self, second: float) -> float:
        """Give the records until a second."""
        begins = [*self.rates, float("inf")]
        spans = (max(min(second, end) - begin, 0.0) for begin, end in pairwise(begins))
        return sum(rate * span for rate, span in zip(self.rates.values(), spans, strict=True))

    def sampled(self, bare: JobSample, at: datetime) -> JobSample:
        """Give a sample of a job under this load at an instant."""
        read = EARLIER + self.arrived((at - START).total_seconds()) - self.lag
        values = {Measure.NUM_RECORDS_IN: read, Measure.LAG: self.lag}
        seen = VertexSample(measured_at=at, values=values)
        return replace(bare, at=at, vertices=dict.fromkeys(bare.vertices, seen))


GROWING = Load(rates={0: CALM, 60: 4 * CALM})


def seen(load: Load, at: datetime, *, job: JobKey = ORDERS, options: AutoscalerOptions = FAST) -> Observation:
    """Observe a job of one source under a load."""
    bare = sample(chain({"source": 2}), job=job)
    return Observation(ctx=context(job, options=options), sample=load.sampled(bare, at))


@dataclass
class StreamingEngine(FakeEngine):
    """A fake engine that measures at the tick; jobs without a load of their own have the usual one."""

    loads: dict[JobKey, Load] = field(default_factory=dict)
    asked: list[tuple[JobKey, datetime]] = field(default_factory=list)
    """Whose samples were taken, and when."""

    def run(self, job: JobKey = ORDERS, options: AutoscalerOptions = FAST) -> None:
        """Let a job run, `source -> agg`."""
        self.add(context(job, options=options), sample(chain({"source": 1, "agg": 1}), job=job))

    async def update_metrics(self, ctx: JobContext, tick: datetime, /) -> JobSample:
        """Measure."""
        self.asked.append((ctx.key, tick))
        return self.loads.get(ctx.key, Load()).sampled(await super().update_metrics(ctx, tick), tick)
