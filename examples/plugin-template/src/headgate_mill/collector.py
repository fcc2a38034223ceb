"""Observes the jobs of a Mill by what they write."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import Measure
from headgate.model.samples import Aggregate, EngineSettings, JobSample, Signal, VertexSample
from headgate.model.topology import Topology
from headgate.ports import JobContext

from headgate_mill.files import MillFiles, Status

_MEASURES = {
    "records_in": Measure.NUM_RECORDS_IN,
    "records_out": Measure.NUM_RECORDS_OUT,
    "busy_ms": Measure.ACCUMULATED_BUSY_TIME,
    "lag": Measure.LAG,
}


class MillMetricCollector:
    """One file is one job's sample. Implements `headgate.ports.MetricCollector`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """Take `directory`."""
        self._files = MillFiles(parameters)
        self._seen: dict[JobKey, datetime] = {}

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample; what the job wrote before the sample before is no news."""
        status = self._files.status(ctx.key.name)
        is_news = self._seen.get(ctx.key) != status.written_at
        self._seen[ctx.key] = status.written_at
        return JobSample(
            job=ctx.key,
            at=at,
            job_id=status.job_id,
            running_since=status.started_at,
            topology=status.topology,
            vertices=_samples(status) if is_news else {},
            settings=EngineSettings(rescale_cooldown_s=0, resource_stabilization_s=0, metric_refresh_s=5),
        )

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it was last written."""
        return self._files.status(ctx.key.name).topology

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give nothing: a Mill has no JobManager."""
        return {}

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give nothing."""
        return {}

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Give nothing."""
        return {}

    def forget(self, job: JobKey, /) -> None:
        """Take what the job writes for news again."""
        self._seen.pop(job, None)


def _samples(status: Status) -> dict[VertexId, VertexSample]:
    return {VertexId(stage["name"]): _sample(stage, status) for stage in status.stages}


def _sample(stage: Mapping[str, Any], status: Status) -> VertexSample:
    values = {measure: float(stage[name]) for name, measure in _MEASURES.items() if name in stage}
    # a stage counts from zero when its job starts, so the second of the start tells one run from another
    return VertexSample(measured_at=status.written_at, epoch=int(status.started_at.timestamp()), values=values)
