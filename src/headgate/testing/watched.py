"""A simulation under watch: what Headgate asks for and saves is kept, and it can be disturbed at any effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from headgate.engines.simulated.job import RunningJob
from headgate.model.decision import ConfigChanges, Decision
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure
from headgate.model.orders import Orders, StandingOrders
from headgate.model.samples import Aggregate, JobSample, Signal
from headgate.model.state import Intent, JobState, ScalingRecord, VersionedState
from headgate.model.topology import Topology
from headgate.ports import JobContext, Lease, MetricCollector, ScalingRealizer
from headgate.samplelog.rows import decision_json
from headgate.simulate.loop import Kept, control_loop
from headgate.simulate.scenario import Scenario
from headgate.simulate.simulation import Progress, Simulation, silently
from headgate.stores.memory import MemoryStateStore


class KilledError(BaseException):
    """The process died here. No `Exception`: nothing of what it ran may notice."""


class Moment(StrEnum):
    """Where Headgate touches what is outside of it."""

    OBSERVE = "observe"
    """Before a sample is taken."""
    VALIDATE = "validate"
    """Decided; before the graph is looked at once more."""
    SAVE = "save"
    """Before a state is saved."""
    SAVED = "saved"
    ASK = "ask"
    """Before the engine is asked for a parallelism."""
    ASKED = "asked"


class Disturbance:
    """What happens to Headgate on the way; this one does nothing."""

    def at(self, moment: Moment, job: str, simulation: WatchedSimulation) -> None:
        """Let something happen: raise an error, kill the process, change the cluster."""

    def sampled(self, sample: JobSample) -> JobSample:
        """Change what was measured."""
        return sample

    def validated(self, topology: Topology) -> Topology:
        """Change the graph that is found when a decision is about to be carried out."""
        return topology


class Apart(Disturbance):
    """
    Hides from each job all that jobs of one cluster are told of each other.

    That is what slots the others take, and how long their rescales took: without the state nothing is learnt of those.
    """

    def sampled(self, sample: JobSample) -> JobSample:
        """Give the sample without the cluster's slots and the job's state."""
        values = dict(sample.values)
        values.pop(JobMeasure.STATE_SIZE, None)
        return replace(sample, slots_total=None, slots_free=None, values=values)


class Killing(Disturbance):
    """Kills the process at given effects, each named by its kind and which of them it is, from 1."""

    def __init__(self, kills: Collection[tuple[Moment, int]]) -> None:
        """Kill nothing yet."""
        self._kills = frozenset(kills)
        self._passed: Counter[Moment] = Counter()

    def at(self, moment: Moment, job: str, simulation: WatchedSimulation) -> None:
        """Die here, if it is time to."""
        self._passed[moment] += 1
        if (moment, self._passed[moment]) in self._kills:
            message = f"{moment} {self._passed[moment]} of {job}"
            raise KilledError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the engine was asked for, whatever it answered."""

    at: datetime
    job: str
    wanted: Mapping[VertexId, int]
    running: Mapping[VertexId, int]
    intent: Intent | None
    """The one that the store held open when it was asked."""
    applied: bool
    """Whether the engine wants something else since then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """A state that was saved."""

    at: datetime
    job: str
    state: JobState


class WatchedSimulation(Simulation):
    """
    A simulation whose Headgate is watched, disturbed, and begun anew whenever it is killed.

    Attributes:
        samples: all that were taken and handed to it, in order.
        requests: all that was asked of the engine, in order.
        saves: all that was saved, in order.
        killed: when the process died.
    """

    def __init__(self, scenario: Scenario, disturbance: Disturbance | None = None) -> None:
        """Submit the jobs."""
        self.samples: list[JobSample] = []
        self.requests: list[Request] = []
        self.saves: list[Save] = []
        self.killed: list[datetime] = []
        self.disturbance = disturbance or Disturbance()
        self.store = _WatchedStore(self)
        super().__init__(scenario)

    def restart_headgate(self) -> None:
        """Begin with a new control loop, its ports watched."""
        kept = Kept(self.decisions, self.events)
        loop = control_loop(self.scenario, self.cluster, kept, self.store)
        actuator = loop.cycle.actuator
        collector = _WatchedCollector(actuator.collector, self)
        watched = replace(actuator, collector=collector, realizer=_WatchedRealizer(actuator.realizer, self))
        loop.observer._collector = collector  # noqa: SLF001 - there is no other seam between a loop and its simulation
        cycle = replace(loop.cycle, actuator=watched)
        self._loop = replace(loop, cycle=cycle, early=replace(loop.early, cycle=cycle))

    def advance_to(self, at: timedelta, progress: Progress = silently) -> None:
        """Let time pass; a killed Headgate is begun anew at once."""
        while True:
            try:
                return super().advance_to(at, progress)
            except KilledError:
                self.killed.append(self.cluster.now)
                self.restart_headgate()

    def decisions_of(self, job: str) -> tuple[Decision, ...]:
        """Give one job's decisions."""
        return tuple(decision for decision in self.decisions if decision.job.name == job)

    def written(self, job: str) -> tuple[str, ...]:
        """Give one job's decisions as they would be kept, whole, as text."""
        return tuple(map(decision_json, self.decisions_of(job)))

    def states_of(self, job: str) -> tuple[JobState, ...]:
        """Give one job's states as they were saved."""
        return tuple(save.state for save in self.saves if save.job == job)


def watch(scenario: Scenario, disturbance: Disturbance | None = None) -> WatchedSimulation:
    """Run a scenario to its end, under watch."""
    simulation = WatchedSimulation(scenario, disturbance)
    simulation.run()
    return simulation


class _WatchedCollector:
    def __init__(self, collector: MetricCollector, simulation: WatchedSimulation) -> None:
        self._collector, self._simulation = collector, simulation

    async def update_metrics(self, ctx: JobContext, at: datetime, /) -> JobSample:
        disturbance = self._simulation.disturbance
        disturbance.at(Moment.OBSERVE, ctx.key.name, self._simulation)
        sample = disturbance.sampled(await self._collector.update_metrics(ctx, at))
        self._simulation.samples.append(sample)
        return sample

    async def query_topology(self, ctx: JobContext, /) -> Topology:
        disturbance = self._simulation.disturbance
        disturbance.at(Moment.VALIDATE, ctx.key.name, self._simulation)
        return disturbance.validated(await self._collector.query_topology(ctx))

    async def query_jm_metrics(self, ctx: JobContext, /) -> Mapping[str, float]:
        return await self._collector.query_jm_metrics(ctx)

    async def query_tm_metrics(self, ctx: JobContext, /) -> Mapping[str, Aggregate]:
        """Pass the question on."""
        return await self._collector.query_tm_metrics(ctx)

    async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:
        """Pass the question on."""
        return await self._collector.query_external_metrics(ctx)

    def forget(self, job: JobKey, /) -> None:
        self._collector.forget(job)


class _WatchedRealizer:
    def __init__(self, realizer: ScalingRealizer, simulation: WatchedSimulation) -> None:
        self._realizer, self._simulation = realizer, simulation

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        simulation, name = self._simulation, ctx.key.name
        simulation.disturbance.at(Moment.ASK, name, simulation)
        job = simulation.cluster.jobs[name]
        required, running = dict(job.required), _running(job)
        try:
            sent = await self._realizer.realize_parallelism_overrides(ctx, overrides)
        finally:
            request = Request(
                at=simulation.cluster.now,
                job=name,
                wanted=dict(overrides),
                running=running,
                intent=simulation.store.load(ctx.key).state.intent,
                applied=job.required != required,
            )
            simulation.requests.append(request)
        simulation.disturbance.at(Moment.ASKED, name, simulation)
        return sent

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        return await self._realizer.realize_config_overrides(ctx, changes)


class _WatchedStore:
    def __init__(self, simulation: WatchedSimulation) -> None:
        self._store, self._simulation = MemoryStateStore(), simulation

    def load(self, job: JobKey, /) -> VersionedState:
        return self._store.load(job)

    def save(self, job: JobKey, state: JobState, expected_version: int, /, *, lease: Lease | None = None) -> int:
        simulation = self._simulation
        simulation.disturbance.at(Moment.SAVE, job.name, simulation)
        version = self._store.save(job, state, expected_version, lease=lease)
        simulation.saves.append(Save(at=simulation.cluster.now, job=job.name, state=state))
        simulation.disturbance.at(Moment.SAVED, job.name, simulation)
        return version

    def forget(self, job: JobKey, /, *, gone_before: datetime | None = None, unused: bool = False) -> bool:
        return self._store.forget(job, gone_before=gone_before, unused=unused)

    def kept(self) -> Mapping[JobKey, datetime | None]:
        return self._store.kept()

    def note_gone(self, jobs: Collection[JobKey], at: datetime | None, /) -> None:
        self._store.note_gone(jobs, at)

    def forget_history(self, before: datetime, /) -> None:
        self._store.forget_history(before)

    def history(self, job: JobKey, since: datetime, /) -> tuple[ScalingRecord, ...]:
        return self._store.history(job, since)

    def in_flight(self) -> tuple[JobKey, ...]:
        return self._store.in_flight()

    def states(self) -> Mapping[JobKey, VersionedState]:
        return self._store.states()

    def orders(self) -> StandingOrders:
        return self._store.orders()

    def change_orders(self, job: JobKey | None, change: Callable[[Orders], Orders], /) -> Orders:
        return self._store.change_orders(job, change)

    def acquire(self, shard: int, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> Lease | None:
        return self._store.acquire(shard, holder, duration, now=now)

    def renew(self, holder: str, duration: timedelta, /, *, now: datetime | None = None) -> tuple[Lease, ...]:
        return self._store.renew(holder, duration, now=now)

    def release(self, lease: Lease, /) -> None:
        self._store.release(lease)

    def holds(self, lease: Lease, /, *, now: datetime | None = None) -> bool:
        return self._store.holds(lease, now=now)

    def leases(self, *, now: datetime | None = None) -> tuple[Lease, ...]:
        return self._store.leases(now=now)

    def close(self) -> None:
        self._store.close()


def _running(job: RunningJob) -> Mapping[VertexId, int]:
    return {VertexId(name): parallelism for name, parallelism in job.parallelism.items()}
