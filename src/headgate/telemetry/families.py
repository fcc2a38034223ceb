"""Every metric that Headgate shows of itself, declared once: the reference page is generated from here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from prometheus_client import Metric
from prometheus_client.samples import Sample

from headgate.model.metrics import JobMetric, ScalingMetric
from headgate.telemetry.labels import Labels


class Kind(StrEnum):
    """What may be done with a metric's values, in Prometheus' words."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric: its name with its unit, its labels, and what it means."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    kind: Kind = Kind.GAUGE
    reference: str = ""
    """What the reference autoscaler calls it, in the group `AutoScaler` of a job; empty where it has none."""

    def of(self, points: Iterable[tuple[Labels, float | None]]) -> Metric:
        """Give the metric with a series a point; what is not known, None or NaN, is a series that is not there."""
        return self.sampled(
            Sample(self.name, at, value) for at, value in points if value is not None and not math.isnan(value)
        )

    def sampled(self, samples: Iterable[Sample]) -> Metric:
        """Give the metric with these samples."""
        metric = Metric(self.name.removesuffix("_total"), self.help, self.kind)
        metric.samples = list(samples)
        return metric


_CLUSTER = ("cluster",)
_JOB = ("cluster", "job")
_VERTEX = ("cluster", "job", "vertex", "vertex_name")
_TICK = ("tick",)


def _vertex(name: str, meaning: str) -> Family:
    return Family(name=f"headgate_vertex_{name}", help=meaning, labels=_VERTEX)


def _job(name: str, meaning: str, kind: Kind = Kind.GAUGE, reference: str = "") -> Family:
    return Family(name=f"headgate_job_{name}", help=meaning, labels=_JOB, kind=kind, reference=reference)


def _cluster(name: str, meaning: str) -> Family:
    return Family(name=f"headgate_cluster_{name}", help=meaning, labels=_CLUSTER)


def _tick(name: str, meaning: str, kind: Kind = Kind.GAUGE) -> Family:
    return Family(name=f"headgate_tick_{name}", help=meaning, labels=_TICK, kind=kind)


OUTCOME = Family(
    name="headgate_job_outcome_info",
    help="1 at the outcome of the job's latest decision and its reason: one series a job.",
    labels=(*_JOB, "outcome", "reason"),
)
OUTCOME_SECONDS = _job("outcome_seconds", "Seconds from the first decision with the present outcome and reason.")
NOT_READY_SECONDS = _job("not_ready_seconds", "Seconds since the job could last be decided; 0 while it can.")

BACKLOG = _job("backlog", "1 while the job works off a backlog, so that nothing shrinks; 0 otherwise.")
COVERAGE = _job("window_coverage_ratio", "Share of the metric window that the samples span, 0 to 1.")
SAMPLES = _job("window_samples", "Least number of samples behind any vertex.")

JOB_WIDE: Mapping[JobMetric, Family] = {
    JobMetric.GC_PRESSURE: _job(
        "gc_pressure_ratio", "Share of time, 0 to 1, that the TaskManager with most of it collects garbage."
    ),
    JobMetric.HEAP_MAX_USAGE_RATIO: _job("heap_usage_ratio", "Largest heap in use over largest heap, 0 to 1."),
    JobMetric.HEAP_MEMORY_USED: _job("heap_used_bytes", "Largest heap in use of any TaskManager."),
    JobMetric.MANAGED_MEMORY_USED: _job("managed_memory_used_bytes", "Largest managed memory of any TaskManager."),
    JobMetric.METASPACE_MEMORY_USED: _job("metaspace_used_bytes", "Largest metaspace in use of any TaskManager."),
    JobMetric.NUM_TASK_SLOTS_USED: _job("task_slots_used", "Task slots in use on the job's cluster."),
}
"""The latest values."""

JOB_WIDE_AVERAGE: Mapping[JobMetric, Family] = {
    JobMetric.HEAP_MAX_USAGE_RATIO: _job("heap_usage_average_ratio", "Heap usage, mean over the metric window."),
    JobMetric.HEAP_MEMORY_USED: _job("heap_used_average_bytes", "Heap in use, mean over the metric window."),
    JobMetric.MANAGED_MEMORY_USED: _job(
        "managed_memory_used_average_bytes", "Managed memory in use, mean over the metric window."
    ),
    JobMetric.METASPACE_MEMORY_USED: _job(
        "metaspace_used_average_bytes", "Metaspace in use, mean over the metric window."
    ),
}

_AVERAGES = {ScalingMetric.LOAD, ScalingMetric.TRUE_PROCESSING_RATE, ScalingMetric.TARGET_DATA_RATE}
"""Means over the window, of which the reference has no present value but NaN; it has no means of the others."""


def _referring(families: Mapping[ScalingMetric, Family]) -> Mapping[ScalingMetric, Family]:
    return {
        metric: replace(family, reference=f"{metric}.{'Average' if metric in _AVERAGES else 'Current'}")
        for metric, family in families.items()
    }


VERTEX = _referring(
    {
        ScalingMetric.LOAD: _vertex(
            "load_ratio", "Share of time that the vertex is busy, 0 to 1, mean over the window."
        ),
        ScalingMetric.TRUE_PROCESSING_RATE: _vertex(
            "true_processing_rate_records_per_second",
            "What the vertex could do at full busyness, by its window; +Inf when idle.",
        ),
        ScalingMetric.TARGET_DATA_RATE: _vertex(
            "target_data_rate_records_per_second", "What the vertex has to do now."
        ),
        ScalingMetric.CATCH_UP_DATA_RATE: _vertex(
            "catch_up_data_rate_records_per_second", "What it has to do on top, to work off the backlog in time."
        ),
        ScalingMetric.LAG: _vertex("lag_records", "Records that wait in front of a source."),
        ScalingMetric.PARALLELISM: _vertex("parallelism", "Subtasks that run."),
        ScalingMetric.RECOMMENDED_PARALLELISM: _vertex(
            "recommended_parallelism", "Subtasks there should be, after all limits, whether or not that is done."
        ),
        ScalingMetric.MAX_PARALLELISM: _vertex("max_parallelism", "Key groups: the engine's own bound."),
        ScalingMetric.NUM_SOURCE_PARTITIONS: _vertex(
            "source_partitions", "Partitions of a source; 0 of another vertex, and where it is not known."
        ),
        ScalingMetric.SCALE_UP_RATE_THRESHOLD: _vertex(
            "scale_up_rate_threshold_records_per_second", "True rate below which the vertex is outside its band."
        ),
        ScalingMetric.SCALE_DOWN_RATE_THRESHOLD: _vertex(
            "scale_down_rate_threshold_records_per_second", "True rate above which the vertex is outside its band."
        ),
        ScalingMetric.EXPECTED_PROCESSING_RATE: _vertex(
            "expected_processing_rate_records_per_second", "True rate to be had at the recommended parallelism."
        ),
    }
)

SCALINGS = _job("scalings_total", "Decisions to rescale that were carried out.", Kind.COUNTER, "scalings")
ADVICE = _job("advice_total", "Decisions to rescale that were only told.", Kind.COUNTER)
BALANCED = _job("balanced_total", "Decisions to change nothing.", Kind.COUNTER, "balanced")
ERRORS = _job("errors_total", "Failures of this job's own cycle or collection, merged or not.", Kind.COUNTER, "errors")

DECISIONS = Family(
    name="headgate_decisions_total",
    help="Decisions by outcome and reason, over all jobs of a cluster; all but `Rescale` are reasons for not acting.",
    labels=("cluster", "outcome", "reason"),
    kind=Kind.COUNTER,
)
EVENTS = Family(
    name="headgate_events_total",
    help="Events by reason, the ones merged into others included.",
    labels=("reason", "type"),
    kind=Kind.COUNTER,
)

REACHABLE = _cluster("reachable", "1 if the cluster listed its jobs when last asked, else 0.")
CLUSTER_JOBS = _cluster("jobs", "Live jobs that the cluster listed when it last answered.")
CLUSTER_PAUSED = _cluster("paused_jobs", "Jobs that are left alone because somebody ordered it.")
SAMPLE_AGE = _cluster("newest_sample_age_seconds", "Age of the newest sample of any of the cluster's jobs.")

TICK_SECONDS = _tick("duration_seconds", "Durations of ticks.", Kind.HISTOGRAM)
TICK_LAST_SECONDS = _tick("last_duration_seconds", "Duration of the last tick.")
TICK_LATE_SECONDS = _tick("lateness_seconds", "How much later than due the last tick began.")
TICK_LAST_AT = _tick("last_timestamp_seconds", "When the last tick began, in seconds since 1970.")
TICK_FAILURES = _tick("failures_total", "Ticks that failed as a whole.", Kind.COUNTER)

PHASE_SECONDS = Family(
    name="headgate_phase_duration_seconds",
    help="What a cycle's time goes into, summed over jobs that are cared for side by side; `collect`: of a cluster.",
    labels=("phase",),
    kind=Kind.HISTOGRAM,
)

CHECK = Family(
    name="headgate_health_check",
    help="1 while a check of `/readyz` finds nothing wrong, else 0; `loops` and `evaluation` are those of `/healthz`.",
    labels=("check",),
)
STORE_REACHABLE = Family(
    name="headgate_store_reachable", help="1 if the state store answered when last asked, else 0; none before."
)
STORE_ERRORS = Family(
    name="headgate_store_errors_total", help="Calls that the state store did not answer.", kind=Kind.COUNTER
)
LOG_ERRORS = Family(
    name="headgate_log_errors_total",
    help="Writes to the samples log that failed.",
    labels=("table",),
    kind=Kind.COUNTER,
)
LEASE_SHARDS = Family(
    name="headgate_lease_shards",
    help="Parts of the jobs by who holds their leases: `self`, `others` or `nobody`. Not there if nobody shares them.",
    labels=("holder",),
)
LEASE_EXPIRY = Family(
    name="headgate_lease_expiry_timestamp_seconds",
    help="When the first of the held leases expires unless it is renewed, in seconds since 1970, by the store's clock.",
)
ORDERS = Family(
    name="headgate_orders",
    help="What people have ordered and not taken back: `pause`, `options`, `rollback`, by what it is for.",
    labels=("order", "scope"),
)
BUILD = Family(
    name="headgate_build_info",
    help="1 at the versions that run, of Headgate and of Python.",
    labels=("version", "python"),
)

SECTIONS: Mapping[str, tuple[Family, ...]] = {
    "What became of each job": (OUTCOME, OUTCOME_SECONDS, NOT_READY_SECONDS, SCALINGS, ADVICE, BALANCED, ERRORS),
    "The whole job, as evaluated": (BACKLOG, COVERAGE, SAMPLES, *JOB_WIDE.values(), *JOB_WIDE_AVERAGE.values()),
    "Each vertex, as evaluated": tuple(VERTEX.values()),
    "Clusters": (REACHABLE, CLUSTER_JOBS, CLUSTER_PAUSED, SAMPLE_AGE),
    "Decisions and cycles": (
        DECISIONS,
        EVENTS,
        PHASE_SECONDS,
        TICK_SECONDS,
        TICK_LAST_SECONDS,
        TICK_LATE_SECONDS,
        TICK_LAST_AT,
        TICK_FAILURES,
    ),
    "The service": (CHECK, STORE_REACHABLE, STORE_ERRORS, LOG_ERRORS, LEASE_SHARDS, LEASE_EXPIRY, ORDERS, BUILD),
}
"""All of them, in the order of the page."""
