"""What happened in a simulation, as a value: a frame every few seconds, and everything that was said and done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headgate.engines.simulated.cluster import SimulatedCluster
from headgate.engines.simulated.job import RunningJob
from headgate.engines.simulated.restart import Restart
from headgate.engines.simulated.retries import Setback
from headgate.engines.simulated.task import Ledger
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.simulate.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One job at an instant; rates are those since the frame before."""

    at_s: float
    """Since the beginning."""
    span_s: float
    """Since the frame before."""
    running: bool
    """Whether it ran, and was neither restarting nor gone."""
    arrivals_per_s: float
    source_per_s: float
    """What all sources read."""
    sink_per_s: float
    """What all sinks read."""
    lag: float
    """Records waiting in front of all sources."""
    slots: int
    """0 while it is gone."""
    parallelism: Mapping[str, int]
    busy: Mapping[str, float]
    """Busy share of each vertex over its subtasks, 0 to 1; 0 when it did not run."""
    read_per_s: Mapping[str, float]
    """What each vertex read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One job's part of a run."""

    name: str
    frames: tuple[Frame, ...]
    restarts: tuple[Restart, ...]
    """All of them, whatever caused them; see `rescales`."""
    decisions: tuple[Decision, ...]
    """Of every cycle."""
    setbacks: tuple[Setback, ...] = ()
    """All failures."""
    rollbacks: tuple[Event, ...] = ()
    """What was told of rescales that were taken back."""

    @property
    def rescales(self) -> tuple[Restart, ...]:
        """The restarts that changed the parallelism."""
        return tuple(restart for restart in self.restarts if restart.changes)

    @property
    def parallelism(self) -> Mapping[str, int]:
        """What ran at the end."""
        return self.frames[-1].parallelism


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of a simulation."""

    scenario: Scenario
    jobs: Mapping[str, JobRun]
    events: tuple[Event, ...]

    @property
    def job(self) -> JobRun:
        """The only job, or the first one."""
        return next(iter(self.jobs.values()))


@dataclass(slots=True)
class Recorder:
    """Takes frames of a cluster's jobs."""

    cluster: SimulatedCluster
    frames: dict[str, list[Frame]] = field(default_factory=dict)
    _before: dict[str, dict[str, tuple[float, float, float, float]]] = field(default_factory=dict)
    _at_s: float = 0.0

    def take(self) -> None:
        """Take a frame of each job; nothing when no time has passed."""
        span_s = self.cluster.now_s - self._at_s
        if span_s <= 0:
            return
        self._at_s = self.cluster.now_s
        for name, job in {**self.cluster.jobs, **self.cluster.gone}.items():
            self.frames.setdefault(name, []).append(self._frame(name, job, span_s))

    def _frame(self, name: str, job: RunningJob, span_s: float) -> Frame:
        now = {vertex: _figures(task.ledger) for vertex, task in job.tasks.items()}
        before = self._before.get(name, {})
        self._before[name] = now
        grown = {vertex: _grown(figures, before.get(vertex)) for vertex, figures in now.items()}
        sources = [vertex for vertex, task in job.tasks.items() if not task.inputs]
        sinks = [vertex for vertex, task in job.tasks.items() if not task.outputs]
        present = name in self.cluster.jobs
        return Frame(
            at_s=self.cluster.now_s,
            span_s=span_s,
            running=present and job.is_up(self.cluster.now_s),
            arrivals_per_s=sum(grown[vertex][0] for vertex in sources) / span_s,
            source_per_s=sum(grown[vertex][1] for vertex in sources) / span_s,
            sink_per_s=sum(grown[vertex][1] for vertex in sinks) / span_s,
            lag=sum(task.lag for task in job.tasks.values()),
            slots=job.slots if present else 0,
            parallelism=dict(job.parallelism),
            busy={vertex: each[2] / each[3] if each[3] else 0.0 for vertex, each in grown.items()},
            read_per_s={vertex: each[1] / span_s for vertex, each in grown.items()},
        )


def _figures(ledger: Ledger) -> tuple[float, float, float, float]:
    return ledger.arrived, ledger.read, ledger.busy_s, ledger.subtask_s


def _grown(now: Sequence[float], before: Sequence[float] | None) -> Sequence[float]:
    return [new - old for new, old in zip(now, before, strict=True)] if before else now
