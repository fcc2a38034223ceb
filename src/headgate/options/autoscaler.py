"""
The options of one job's autoscaling, under the reference autoscaler's keys (`job.autoscaler.*`).

Same option, same meaning, same default. Headgate's own options say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from operator import attrgetter
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option, paths
from headgate.options.deviations import Deviation, Parity
from headgate.options.micro_batch import MicroBatchOptions
from headgate.options.reactive import ExecutionMode, ReactiveOptions
from headgate.options.rollback import RollbackOptions
from headgate.options.signals import SignalOptions
from headgate.options.sla import SlaOptions
from headgate.options.units import LARGEST, Count, Duration, Factor, MemorySize, PositiveDuration

IN_PLACE = "resource-requirements"
"""The registered name of the realizer that asks Flink itself, which rescales in place."""


class LegacyAdjustMode(StrEnum):
    """How the reference aligned parallelism before it had modes by name."""

    EVENLY_SPREAD = "EVENLY_SPREAD"
    MAXIMIZE_UTILISATION = "MAXIMIZE_UTILISATION"


class ScalingSignal(StrEnum):
    """What the need of a vertex follows from."""

    DATA_RATE = "DATA_RATE"
    """The rates of the sources, carried through the job graph."""
    BUSY_TIME = "BUSY_TIME"
    """How busy the vertex is with what it reads itself; for graphs whose edges cannot be told apart (FLINK-38538)."""


class ScalabilityModel(StrEnum):
    """How the rate of a vertex is taken to grow with its parallelism."""

    COEFFICIENT = "COEFFICIENT"
    """In proportion, less by a coefficient that its history gives."""
    CURVE = "CURVE"
    """Along a curve that begins with a prior and is fitted to its history."""


class Reaction(StrEnum):
    """By how much of the window the input is measured."""

    FAST = "fast"
    """From where the load last changed; how sure the answer is, and what waiting costs, say when it is time."""
    WINDOWED = "windowed"
    """All of it, as the reference does."""


class BusyTimeAggregator(StrEnum):
    """How busy time is combined over the subtasks of a vertex."""

    AVG = "AVG"
    MAX = "MAX"
    MIN = "MIN"


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscalerOptions(Options):
    """
    What a job wants of its autoscaler. Every key takes the prefix `job.autoscaler.`.

    Raises:
        ValueError: bounds are the wrong way round; a line each.
    """

    enabled: bool = option("enabled", default=True)
    """Whether the job is looked after at all."""

    scaling_enabled: bool = option("scaling.enabled", default=True)
    """False advises only: measure, evaluate, report, never scale."""

    metrics_window: PositiveDuration = option("metrics.window", timedelta(minutes=15))
    """Length of the window that metrics are taken over."""

    stabilization_interval: Duration = option("stabilization.interval", timedelta(minutes=5))
    """Time after a job's start before its samples count."""

    busy_time_aggregator: BusyTimeAggregator = option("metrics.busy-time.aggregator", BusyTimeAggregator.MAX)
    """Whose busy time counts: the hottest subtask's, the coldest one's, or the average."""

    utilization_target: Annotated[float, Interval(ge=0, le=1)] = option(
        "utilization.target", 0.7, deprecated=("target.utilization",)
    )
    """Share of time a vertex should be busy, 0 to 1."""

    utilization_max: Annotated[float, Interval(ge=0, le=1)] | None = option("utilization.max", None)
    """Busy share above which a vertex is too slow; unset: target + boundary."""

    utilization_min: Annotated[float, Interval(ge=0, le=1)] | None = option("utilization.min", None)
    """Busy share below which a vertex is too large; unset: target - boundary."""

    utilization_boundary: Factor = option("target.utilization.boundary", 0.3)
    """Half-width of the band around the target where `utilization.max` and `utilization.min` are unset."""

    min_parallelism: Count = option("vertex.min-parallelism", 1)
    """Smallest parallelism chosen for a vertex."""

    max_parallelism: Count = option("vertex.max-parallelism", 200)
    """Largest parallelism chosen for a vertex. In reactive mode it counts only where it is set."""

    scale_up_max_factor: Factor = option("scale-up.max-factor", 100_000.0)
    """One step adds at most this multiple of the current parallelism."""

    scale_down_max_factor: Factor = option("scale-down.max-factor", 0.6)
    """
    One step removes at most this share of the current parallelism. For a job that reacts fast it counts only where it
    is set.
    """

    scale_down_interval: Duration = option(
        "scale-down.interval", timedelta(hours=1), deprecated=("scale-up.grace-period",)
    )
    """
    How long a vertex must want to shrink before it does; then the largest parallelism wished meanwhile is taken. For a
    job that reacts fast it counts only where it is set.
    """

    catch_up_duration: Duration = option("catch-up.duration", timedelta(minutes=30))
    """Time allowed to work off the lag and what piles up in a restart; 0 ignores both."""

    restart_time: Duration = option("restart.time", timedelta(minutes=5))
    """How long a rescale is assumed to stop the job."""

    restart_time_tracking_enabled: bool = option("restart.time-tracking.enabled", default=False)
    """Whether measured restarts replace `restart.time`."""

    restart_time_tracking_limit: Duration = option("restart.time-tracking.limit", timedelta(minutes=15))
    """Longest measured restart that counts."""

    backlog_lag_threshold: Duration = option("backlog-processing.lag-threshold", timedelta(minutes=5))
    """Lag, as time of input, from which the job counts as working off a backlog and is not shrunk."""

    observed_tpr_lag_threshold: Duration = option("observed-true-processing-rate.lag-threshold", timedelta(seconds=30))
    """Lag, as time of input, from which a source's rate counts as all it can do."""

    observed_tpr_switch_threshold: Factor = option("observed-true-processing-rate.switch-threshold", 0.15)
    """Excess of the busy-time rate over the observed one from which the observed one is taken."""

    observed_tpr_min_observations: Count = option("observed-true-processing-rate.min-observations", 2)
    """Observations that an observed rate needs."""

    observed_scalability_enabled: bool = option("observed-scalability.enabled", default=False)
    """Whether the job's own history corrects for growth that brings less than its share."""

    observed_scalability_model: ScalabilityModel = option("observed-scalability.model", ScalabilityModel.COEFFICIENT)
    """Headgate's own: `COEFFICIENT` is the reference's correction, `CURVE` fits a curve, from its prior on."""

    observed_scalability_prior: Annotated[float, Interval(gt=0, le=1)] = option("observed-scalability.prior", 0.75)
    """Headgate's own: exponent of the curve `rate ~ parallelism ** exponent` before a vertex has a history."""

    observed_scalability_min_observations: Count = option("observed-scalability.min-observations", 3)
    """Rescales of a vertex that the correction needs."""

    observed_scalability_coefficient_min: Annotated[float, Interval(ge=0.01, le=1)] = option(
        "observed-scalability.coefficient-min", 0.5, checked_when="observed-scalability.enabled"
    )
    """Least coefficient that is believed."""

    alignment_mode: str | None = option("scaling.parallelism-alignment.mode", None)
    """
    Alignment to key groups or partitions: `BALANCED` (when unset or unknown), `EVENLY_SPREAD`, `OFF`, a registered mode
    or an instance of one.
    """

    legacy_adjust_mode: LegacyAdjustMode | None = option("scaling.key-group.partitions.adjust.mode", None)
    """The reference's older alignment; holds where it is set and `scaling.parallelism-alignment.mode` is not."""

    effectiveness_detection_enabled: bool = option("scaling.effectiveness.detection.enabled", default=False)
    """Whether an ineffective scale-up stops further growth of the vertex."""

    effectiveness_threshold: Annotated[float, Interval(ge=0, le=1)] = option(
        "scaling.effectiveness.threshold", 0.1, checked_when="scaling.effectiveness.detection.enabled"
    )
    """Share of the expected gain that a scale-up must bring to count as effective."""

    vertex_exclude_ids: tuple[str, ...] = option("vertex.exclude.ids", ())
    """Vertices that are never scaled."""

    excluded_periods: tuple[str, ...] = option("excluded.periods", (), separators=";")
    """
    Times without scaling: daily `9:30-17:00`, Quartz cron, or both joined by `&&`; entries separated by `;`.

    An entry may end in a time zone of its own: `9:30-17:00 @ Europe/Berlin`.
    """

    excluded_periods_time_zone: str | None = option("excluded.periods.time-zone", None)
    """Headgate's own: the time zone of the entries that name none, like `Europe/Berlin`; unset: the system's."""

    gc_pressure_threshold: Annotated[float, Interval(ge=0, le=1)] = option("memory.gc-pressure.threshold", 1.0)
    """Share of time in garbage collection above which nothing is scaled."""

    heap_usage_threshold: Annotated[float, Interval(ge=0, le=1)] = option("memory.heap-usage.threshold", 1.0)
    """Mean share of the heap in use above which nothing is scaled."""

    quota_cpu: Annotated[float, Interval(gt=0, le=LARGEST)] | None = option("quota.cpu", None)
    """CPUs of all TaskManagers that growth never exceeds."""

    quota_memory: Annotated[MemorySize, Interval(gt=0)] | None = option("quota.memory", None)
    """Memory of all TaskManagers that growth never exceeds."""

    memory_tuning_enabled: bool = option("memory.tuning.enabled", default=False)
    """Whether a rescale also asks the engine to set the TaskManagers' memory; a running Flink job cannot change it."""

    memory_tuning_overhead: Annotated[float, Interval(ge=0, le=1)] = option(
        "memory.tuning.overhead", 0.2, checked_when="memory.tuning.enabled"
    )
    """Reserve added to measured memory, as a share of it."""

    memory_compensation_enabled: bool = option("memory.tuning.scale-down-compensation.enabled", default=True)
    """Whether fewer TaskManagers get more heap each."""

    maximize_managed_memory: bool = option("memory.tuning.maximize-managed-memory", default=False)
    """Whether memory that is saved goes to managed memory, if the job uses any."""

    history_max_count: Count = option("history.max.count", 3)
    """Rescales remembered for a job."""

    history_max_age: Duration = option("history.max.age", timedelta(hours=24))
    """Age up to which they are remembered."""

    scaling_event_interval: Duration = option("scaling.event.interval", timedelta(minutes=30))
    """Time within which equal events count as one."""

    custom_evaluators: tuple[str, ...] = option("metrics.custom-evaluators", ())
    """
    Evaluator plugins, in the order in which they are asked: registered ones, or instances of
    `metrics.custom-evaluator.<name>`. They replace metrics of the built-in evaluator.
    """

    custom_executors: tuple[str, ...] = option("scaling.custom-executors", ())
    """
    Decision plugins, in the order in which they are asked: registered ones, or instances of
    `scaling.custom-executor.<name>`. They change or forbid a rescale.
    """

    collector: str | None = option("metrics.collector.class", None)
    """Headgate's own: a registered metric collector, or an instance of one; unset: that of the job's cluster."""

    evaluator: str | None = option("metric.evaluator.class", None)
    """Headgate's own: a registered metric evaluator, or an instance of one; unset: `ds2`, that of the fleet."""

    realizer: str | None = option("scaling.realizer.class", None)
    """Headgate's own: a registered scaling realizer, or an instance of one; unset: that of the job's cluster."""

    rollback: RollbackOptions = option("rollback", default_factory=RollbackOptions)
    """Headgate's own: taking a rescale back that made the job sick."""

    execution_mode: ExecutionMode | None = option("execution-mode", None, apart=("execution-mode", "scheduler-mode"))
    """
    Headgate's own: `reactive` lets the job use whatever workers there are (FLIP-159); unset: what the cluster's
    `scheduler-mode` says, which is `reactive` or nothing.
    """

    reactive: ReactiveOptions = option("reactive", default_factory=ReactiveOptions)
    """Headgate's own: the details of reactive mode."""

    parity: Parity = option("parity", Parity.CURRENT, apart="headgate.parity")
    """Headgate's own: `1.16.0` switches every deliberate deviation off."""

    deviations_off: tuple[Deviation, ...] = option("deviations.off", (), apart="headgate.deviations.off")
    """Headgate's own: deliberate deviations that are switched off by name."""

    reaction: Reaction = option("reaction", Reaction.FAST, apart="headgate.reaction")
    """Headgate's own: `fast` answers a change of the load in seconds, `windowed` once the window shows it."""

    scaling_signal: ScalingSignal = option("scaling.signal", ScalingSignal.DATA_RATE)
    """Headgate's own: what the need of a vertex follows from, `DATA_RATE` or `BUSY_TIME` alone."""

    signals: tuple[str, ...] = option("signals", ())
    """Headgate's own: declared signals that the job uses, beside those that are for it by their `match`."""

    signals_in_force: tuple[SignalOptions, ...] = field(default=())
    """The declarations of the signals of this job; no option, `config.for_job` fills it in."""

    keys_set: tuple[str, ...] = field(default=())
    """
    The keys that a file, the environment, the job itself or a person has set, sorted; no option, `config` fills it in.

    Code that makes options may name here what is meant although it equals the default.
    """

    micro_batch: MicroBatchOptions = option("micro-batch", default_factory=MicroBatchOptions)
    """Headgate's own: what is wanted of a query that runs in micro-batches (Spark Structured Streaming)."""

    sla: SlaOptions = option("sla", default_factory=SlaOptions)
    """Headgate's own: how far behind the job may be, and for how long."""

    downtime_model_enabled: bool = option("restart.time-model.enabled", default=True)
    """Headgate's own: whether what rescales were seen to take replaces `restart.time`, once some were seen."""

    rescale_horizon: Duration = option("rescale.horizon", timedelta(hours=1))
    """Headgate's own: time within which shrinking must save more than a restart costs, as predicted or measured."""

    rejection_expiry: Duration = option("rejected-parallelism.expiry", timedelta(minutes=30))
    """How long a parallelism that was refused or never reached is not tried again."""

    def __post_init__(self) -> None:
        """Hold the bounds together, unless the job is not looked after."""
        faults = tuple(self._contradictions()) if self.enabled else ()
        if faults:
            raise ValueError("\n".join(faults))

    def _contradictions(self) -> Iterator[str]:
        target = self.utilization_target
        if self.utilization_max is not None and self.utilization_max < target:
            yield f"utilization.max {self.utilization_max:g} is below utilization.target {target:g}"
        if self.utilization_min is not None and self.utilization_min > target:
            yield f"utilization.min {self.utilization_min:g} is above utilization.target {target:g}"
        if self.min_parallelism > self.max_parallelism:
            low, high = self.min_parallelism, self.max_parallelism
            yield f"vertex.min-parallelism {low} is above vertex.max-parallelism {high}"

    def is_set(self, key: str) -> bool:
        """
        Tell whether an option was set, by its key without prefix; a default is no wish of anybody.

        A value that is not the default was set, also where no key is named: by code, or in a log of an older version.
        """
        read = attrgetter(paths(AutoscalerOptions)[key])
        return key in self.keys_set or read(self) != read(_DEFAULTS)

    @property
    def has_own_realizer(self) -> bool:
        """Whether a named realizer changes the job otherwise than in place: then its scheduler is no obstacle."""
        return self.realizer not in {None, IN_PLACE}

    @property
    def utilization_band(self) -> tuple[float, float]:
        """Lower and upper bound of the busy share in which a vertex is left alone."""
        low, high = self.utilization_min, self.utilization_max
        return (
            self.utilization_target - self.utilization_boundary if low is None else low,
            self.utilization_target + self.utilization_boundary if high is None else high,
        )


_DEFAULTS = AutoscalerOptions()
