"""What Headgate needs of the workshop: which jobs there are, how they do, and how to change them. Three small ports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from workshop import Line, Workshop

from headgate.errors import NotFoundError, RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus, Measure
from headgate.model.samples import Aggregate, EngineSettings, JobSample, Signal, VertexSample
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.ports import JobContext, JobList

MORNING = datetime(2026, 1, 1, 8, tzinfo=UTC)
BENCHES = VertexId("benches")
MOST = 12
OPTIONS = AutoscalerOptions(
    metrics_window=timedelta(minutes=2),
    stabilization_interval=timedelta(seconds=20),
    restart_time=timedelta(seconds=10),
    scale_down_interval=timedelta(),
    busy_time_aggregator=BusyTimeAggregator.AVG,  # by counters: the other two want the load of each bench
)


def instant(workshop: Workshop) -> datetime:
    """Give the workshop's time."""
    return MORNING + timedelta(seconds=workshop.now_s)


class WorkshopJobList:
    """Every line is a job. Implements `headgate.ports.JobListFetcher`."""

    def __init__(self, workshop: Workshop) -> None:
        """Look there."""
        self._workshop = workshop

    async def fetch(self) -> JobList:
        """List the lines; a workshop always answers."""
        jobs = tuple(
            JobContext(
                key=JobKey("workshop", name),
                job_id=name,
                status=JobStatus.RUNNING,
                options=OPTIONS,
            )
            for name in self._workshop.lines
        )
        return JobList(jobs=jobs, failures={})


class WorkshopCollector:
    """Reads the counters. Implements `headgate.ports.MetricCollector`."""

    def __init__(self, workshop: Workshop) -> None:
        """Look there."""
        self._workshop = workshop

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample: what was done, and how long benches were busy, since the line was built."""
        line = self._find(ctx)
        sample = VertexSample(
            measured_at=at,
            epoch=int(line.started_s),
            values={
                Measure.NUM_RECORDS_IN: line.done,
                Measure.ACCUMULATED_BUSY_TIME: line.busy_ms,
                Measure.LAG: line.waiting,
            },
        )
        return JobSample(
            job=ctx.key,
            at=at,
            job_id=ctx.job_id,
            running_since=MORNING + timedelta(seconds=line.started_s),
            topology=_graph(line),
            vertices={BENCHES: sample},
            settings=EngineSettings(rescale_cooldown_s=0, resource_stabilization_s=0),
        )

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it is now: one vertex."""
        return _graph(self._find(ctx))

    async def query_jm_metrics(self, _: JobContext, /) -> Mapping[str, float]:
        """Give nothing: no part of the decision needs it."""
        return {}

    async def query_tm_metrics(self, _: JobContext, /) -> Mapping[str, Aggregate]:
        """Give nothing."""
        return {}

    async def query_external_metrics(self, _: JobContext, /) -> Mapping[str, Signal]:
        """Give nothing."""
        return {}

    def forget(self, job: JobKey, /) -> None:
        """Remember nothing anyway."""

    def _find(self, ctx: JobContext) -> Line:
        if ctx.key.name not in self._workshop.lines:
            message = f"line {ctx.key.name} was torn down"
            raise NotFoundError(message)
        return self._workshop.lines[ctx.key.name]


class WorkshopRealizer:
    """Builds and takes away benches. Implements `headgate.ports.ScalingRealizer`."""

    def __init__(self, workshop: Workshop) -> None:
        """Act there."""
        self._workshop = workshop

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Rebuild the line if it has another number of benches."""
        wanted = overrides.get(BENCHES)
        if wanted is None or self._workshop.lines[ctx.key.name].benches == wanted:
            return False
        self._workshop.rebuild(ctx.key.name, wanted)
        return True

    async def realize_config_overrides(self, ctx: JobContext, _: ConfigChanges, /) -> bool:
        """Refuse: a line has no settings."""
        message = f"{ctx.key} has no settings to change"
        raise RefusedError(message)


def _graph(line: Line) -> Topology:
    benches = Vertex(id=BENCHES, name="benches", parallelism=line.benches, max_parallelism=MOST)
    return Topology(vertices=(benches,))
