"""Observes simulated jobs. Implements `headgate.ports.MetricCollector`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta

from headgate.algorithm.observed import Observations
from headgate.engines.simulated.cluster import START, SimulatedCluster
from headgate.engines.simulated.failures import FailureKind
from headgate.engines.simulated.job import RunningJob
from headgate.engines.simulated.sampling import observed_since, vertex_sample
from headgate.engines.simulated.snapshot import Snapshot
from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure
from headgate.model.samples import Aggregate, JobSample, Signal, VertexSample
from headgate.model.topology import Topology
from headgate.ports import JobContext


class SimulatedMetricCollector:
    """Gives what the cluster's engine measured last; a vertex without news is left out."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        """Look at nothing yet."""
        self._cluster = cluster
        self._seen: dict[tuple[JobKey, str], Snapshot] = {}
        self._observed: dict[tuple[JobKey, str], Observations] = {}

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        """Take one sample of the job; the contract is the port's."""
        job = find(self._cluster, ctx)
        missing = self._cluster.suffers(FailureKind.METRICS, ctx.key.name)
        if missing is not None and not missing.vertex:
            message = f"the metrics of {ctx.key} cannot be had"
            raise UnreachableError(message)
        return JobSample(
            job=ctx.key,
            at=at,
            job_id=job.job_id,
            running_since=_running_since(job),
            topology=job.topology,
            vertices=self._look(ctx, job, missing.vertex if missing else ""),
            settings=self._cluster.conditions.settings.engine,
            slots_total=self._cluster.slots_total,
            slots_free=self._cluster.slots_free,
            checkpointed_at=START + timedelta(seconds=job.checkpoint_s),
            values={
                **self._cluster.conditions.settings.task_manager.measured,
                **job.diagnosis.values,
                **_standstill(job),
            },
        )

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        """Give the graph as it runs now."""
        return find(self._cluster, ctx).topology

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        """Give the JobManager's slots and jobs under Flink's names."""
        find(self._cluster, ctx)
        return {
            "taskSlotsTotal": float(self._cluster.slots_total),
            "taskSlotsAvailable": float(self._cluster.slots_free),
            "numRunningJobs": float(len(self._cluster.jobs)),
        }

    async def query_tm_metrics(self, _ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Give nothing."""
        return {}

    async def query_external_metrics(self, _ctx: JobContext, /) -> Mapping[str, Signal]:
        """Give nothing."""
        return {}

    def forget(self, job: JobKey, /) -> None:
        """Drop what is remembered of a job; one never seen is no error."""
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] != job}
        self._observed = {key: seen for key, seen in self._observed.items() if key[0] != job}

    def _look(self, ctx: JobContext, job: RunningJob, missing: str) -> Mapping[VertexId, VertexSample]:
        samples: dict[VertexId, VertexSample] = {}
        for name, snapshot in job.snapshots.items():
            before = self._seen.get((ctx.key, name))
            if snapshot is before or name == missing or job.tasks[name].finished:
                continue
            self._seen[ctx.key, name] = snapshot
            same_run = before if before is not None and before.epoch == snapshot.epoch else None
            observed = self._observe(ctx, job, name, same_run)
            samples[VertexId(name)] = vertex_sample(snapshot, same_run, observed, ctx.options.busy_time_aggregator)
        return samples

    def _observe(self, ctx: JobContext, job: RunningJob, name: str, before: Snapshot | None) -> float:
        """Give what a source has shown that it can do, and remember it for as long as the job runs."""
        snapshot, options = job.snapshots[name], ctx.options
        if snapshot.lag is None:
            return math.nan
        running_since = _running_since(job)
        seen = self._observed.get((ctx.key, name))
        if seen is None or seen.running_since != running_since:
            seen = self._observed[ctx.key, name] = Observations(running_since=running_since)
        behind_s = options.observed_tpr_lag_threshold // timedelta(seconds=1)
        rate = observed_since(snapshot, before, behind_s, seen.mean(options.observed_tpr_min_observations))
        at = START + timedelta(seconds=snapshot.at_s)
        seen.add(at, rate, stabilization=options.stabilization_interval, window=options.metrics_window)
        return rate


def _running_since(job: RunningJob) -> datetime:
    """Give it in whole milliseconds, as engines tell it and as the log keeps it: else no replay were exact."""
    return START + timedelta(milliseconds=round(1000 * job.running_since_s))


def _standstill(job: RunningJob) -> Mapping[JobMeasure, float]:
    size = {JobMeasure.STATE_SIZE: float(sum(vertex.state_bytes for vertex in job.spec.vertices))}
    latest = job.restarts[-1] if job.restarts else None
    return size if latest is None else {**size, JobMeasure.LAST_DOWNTIME: latest.ended_s - latest.began_s}


def find(cluster: SimulatedCluster, ctx: JobContext) -> RunningJob:
    """
    Return the job that is meant.

    Raises:
        UnreachableError: the cluster does not answer.
        NotFoundError: the job is gone.
    """
    if cluster.suffers(FailureKind.CLUSTER):
        message = f"cluster {cluster.name} does not answer"
        raise UnreachableError(message)
    job = cluster.jobs.get(ctx.key.name)
    if job is None or job.job_id != ctx.job_id:
        message = f"job {ctx.key} ({ctx.job_id}) is not there"
        raise NotFoundError(message)
    return job
