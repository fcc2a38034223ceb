"""How a simulated cluster behaves: slots, checkpoints, restarts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated

from headgate.engines.simulated.graph import SimulatedJob
from headgate.model.measures import JobMeasure
from headgate.model.samples import EngineSettings
from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import MemorySize, PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartSettings(Options):
    """How long a restart takes: `base`, and the time in which the slowest vertex's subtasks load their state."""

    base: timedelta = option("base", timedelta(seconds=10))
    """What it takes without any state."""

    restore_rate: Annotated[float, Interval(gt=0)] = option("restore-rate", 100e6)
    """Bytes/s that one subtask loads."""

    replays: bool = option("replays", default=False)
    """Whether a restart takes sources and buffers back to the last checkpoint, so that work is done again."""

    retry_delay: timedelta = option("retry-delay", timedelta(seconds=1))
    """How long the engine waits after a job has failed of a sickness; half as long again after each further time."""

    retry_delay_max: timedelta = option("retry-delay-max", timedelta(minutes=1))
    """How long it waits at most."""

    def downtime_s(self, job: SimulatedJob, parallelism: Mapping[str, int]) -> float:
        """Return how long a restart at a parallelism takes."""
        slowest = max(vertex.state_bytes / (self.restore_rate * parallelism[vertex.name]) for vertex in job.vertices)
        return self.base.total_seconds() + slowest

    def retry_delay_s(self, failures: int) -> float:
        """Return how long the engine waits after so many failures in a row, at least one."""
        most_s = self.retry_delay_max.total_seconds()
        return min(most_s, self.retry_delay.total_seconds() * 1.5 ** min(failures - 1, 99))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskManagerSettings(Options):
    """What a TaskManager is, for quotas, resource checks and memory pressure; the model itself counts slots alone."""

    slots: Annotated[int, Interval(ge=1)] = option("slots", 1)
    """Slots of one TaskManager."""

    cpus: Annotated[float, Interval(gt=0)] | None = option("cpus", None)
    """CPUs of one; unset: unknown."""

    memory: Annotated[MemorySize, Interval(gt=0)] | None = option("memory", None)
    """Memory of one; unset: unknown."""

    gc_pressure: Annotated[float, Interval(ge=0, le=1)] | None = option("gc-pressure", None)
    """Share of time in garbage collection; unset: not measured."""

    heap_usage: Annotated[float, Interval(ge=0, le=1)] | None = option("heap-usage", None)
    """Share of the heap in use; unset: not measured."""

    @property
    def measured(self) -> Mapping[JobMeasure, float]:
        """The same as a collector measures it."""
        values = {JobMeasure.GC_PRESSURE: self.gc_pressure, JobMeasure.HEAP_MAX_USAGE_RATIO: self.heap_usage}
        return {measure: value for measure, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings(Options):
    """A simulated cluster, with Flink's own defaults."""

    slots: Annotated[int, Interval(ge=1)] = option("slots", 200)
    """Slots of all TaskManagers; a job takes as many as its widest vertex has subtasks."""

    checkpoint_interval: timedelta = option("checkpoint-interval", timedelta(seconds=60))
    """Time between checkpoints; 0 takes none, and a rescale waits for none."""

    cooldown: timedelta = option("cooldown", timedelta(seconds=30))
    """Least time between two rescales."""

    stabilization: timedelta = option("stabilization", timedelta(seconds=60))
    """How long the engine waits for missing slots before it takes what there is."""

    metric_refresh: PositiveDuration = option("metric-refresh", timedelta(seconds=10))
    """How often metrics are taken: they repeat in between."""

    restart: RestartSettings = option("restart", default_factory=RestartSettings)
    """How long a restart takes."""

    task_manager: TaskManagerSettings = option("task-manager", default_factory=TaskManagerSettings)
    """What each TaskManager is."""

    @property
    def engine(self) -> EngineSettings:
        """The same as a collector reports it."""
        return EngineSettings(
            checkpoint_interval_s=self.checkpoint_interval.total_seconds() or None,
            rescale_cooldown_s=self.cooldown.total_seconds(),
            resource_stabilization_s=self.stabilization.total_seconds(),
            slot_idle_s=0.0,
            metric_refresh_s=self.metric_refresh.total_seconds(),
            slots_per_task_manager=self.task_manager.slots,
            task_manager_cpus=self.task_manager.cpus,
            task_manager_memory_bytes=self.task_manager.memory,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What all jobs of one simulated cluster run under."""

    settings: ClusterSettings = field(default_factory=ClusterSettings)
    seed: int = 0
    step_s: float = 1.0
    """Length of a step of the model."""
    measurement_noise: float = 0.0
    """Standard deviation of measured busy time and lag, as a share of them."""
