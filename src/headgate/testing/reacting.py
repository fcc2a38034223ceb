"""Reactive jobs on a cluster with so many slots, and a provider of workers that exist only in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from headgate.algorithm.decide import not_ready
from headgate.algorithm.reactive.slots import slots_of
from headgate.control.deciding import PlainDecider
from headgate.control.observation import Observation
from headgate.control.reactive.asking import BuiltInPolicies, Policies
from headgate.control.reactive.awaiting import await_workers
from headgate.control.reactive.deciding import ReactiveDecider
from headgate.control.reactive.sharing import is_reactive
from headgate.control.reactive.steering import SteeredCluster, Steering
from headgate.errors import HeadgateError
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample
from headgate.model.state import UNSEEN, JobState
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.live import in_force
from headgate.options.reactive import ExecutionMode, ReactiveOptions, WorkersOptions
from headgate.options.service import Mode
from headgate.ports import Workers
from headgate.testing.builders import at, chain, context, evaluated, sample
from headgate.testing.fakes import RecordingEvents

CLUSTER = "prod"
NOT_RUNNING = NotReady(reason=Reason.JOB_NOT_RUNNING, message="the job is STARTING")


@dataclass
class FakeProvider:
    """A `ports.ResourceProvider` whose workers come and go at once."""

    wanted: int = 0
    dead: int = 0
    """Workers that died and were not replaced yet."""
    fault: HeadgateError | None = None
    """Raised by every call."""
    requests: list[int] = field(default_factory=list)

    async def workers(self) -> Workers:
        """Count them."""
        if self.fault:
            raise self.fault
        return Workers(wanted=self.wanted, ready=self.wanted - self.dead)

    async def request(self, count: int, /) -> bool:
        """Obey, and replace the dead."""
        if self.fault:
            raise self.fault
        self.requests.append(count)
        is_news = count != self.wanted or self.dead > 0
        self.wanted, self.dead = count, 0
        return is_news

    async def reconfigure(self, _settings: Mapping[str, str], /) -> bool:
        """Change nothing."""
        return False

    async def close(self) -> None:
        """Hold nothing open."""


def reactive(*, enabled: bool = True, **details: object) -> AutoscalerOptions:
    """Give the options of a reactive job; the details are those of `ReactiveOptions`."""
    made = ReactiveOptions(**details)  # type: ignore[arg-type]
    return AutoscalerOptions(enabled=enabled, execution_mode=ExecutionMode.REACTIVE, reactive=made)


@dataclass
class ReactiveStage:
    """One cluster, looked after by the decider and the steering of reactive mode; every rescale is obeyed at once."""

    slots: int = 8
    engine_reactive: bool = False
    """Whether the engine itself gives its one job all slots."""
    per_worker: int = 2
    factors: dict[str, float] = field(default_factory=dict)
    """What each vertex needs, as a multiple of what it can do; unnamed ones are in balance."""
    unknown: set[str] = field(default_factory=set)
    """Jobs of which nothing was measured."""
    provider: FakeProvider | None = None
    workers: WorkersOptions = field(default_factory=WorkersOptions)
    policies: Policies = field(default_factory=BuiltInPolicies)
    mode: Mode = Mode.ACT
    is_ours: bool = True
    """Whether this process looks after the cluster."""
    foreign_slots: int = 0
    """Of workers that somebody else has started."""
    checkpointed_at: datetime | None = None
    events: RecordingEvents = field(default_factory=RecordingEvents)
    states: dict[str, JobState] = field(default_factory=dict)
    seen: dict[str, Observation] = field(default_factory=dict)
    are_all_paused: bool = False

    def __post_init__(self) -> None:
        """Put decider and steering together."""
        self.restart_headgate()

    def restart_headgate(self) -> None:
        """Forget what was held in memory."""
        clusters = () if self.provider is None else (self._steered(self.provider),)
        self.steering = Steering(
            events=self.events, clusters=clusters, mode=lambda: self.mode, looks_after=lambda _: self.is_ours
        )
        self.decider = ReactiveDecider(
            usual=PlainDecider(), events=self.events, ledger=self.steering.ledger, policies=self.policies
        )

    def add(self, name: str, options: AutoscalerOptions, topology: Topology | None = None) -> None:
        """Let a job run, by default `source -> agg` with one subtask each."""
        key = JobKey(CLUSTER, name)
        taken = sample(topology or chain({"source": 1, "agg": 1}), job=key, job_id=name)
        self.seen[name] = Observation(ctx=context(key, job_id=name, options=options), sample=taken)

    def add_waiting(self, name: str, options: AutoscalerOptions) -> None:
        """Let a job wait for slots, that was never seen to run."""
        ctx = context(JobKey(CLUSTER, name), job_id=name, status=JobStatus.STARTING, options=options)
        self.seen[name] = Observation(ctx=ctx, problem=NOT_RUNNING)

    def parallelism(self, name: str) -> Mapping[str, int]:
        """Give what runs."""
        return {str(vertex): subtasks for vertex, subtasks in self._sample(name).topology.parallelism.items()}

    def lose(self, slots: int) -> None:
        """Let slots vanish, and the jobs run on with what is left, as the adaptive scheduler does."""
        self.slots -= slots
        for name in self.seen:
            self._fit(name, self.slots)

    async def tick(self, seconds: float) -> Mapping[str, Decision]:
        """Offer, decide, obey and steer once."""
        now = at(seconds)
        observations = {one.ctx.key: self._look(one, now) for one in self.seen.values()}
        self.steering.begin(observations, now, are_all_paused=self.are_all_paused)
        decisions = [await self._decide(seen, now) for _, seen in sorted(observations.items()) if self.is_ours]
        on_trial = [job for job in observations if self.states.get(job.name, UNSEEN).trial]
        await self.steering.steer(observations, decisions, on_trial, now)
        self._grow()
        return {decision.job.name: decision for decision in decisions}

    def _steered(self, provider: FakeProvider) -> SteeredCluster:
        return SteeredCluster(name=CLUSTER, provider=provider, options=lambda: self.workers)

    def _sample(self, name: str) -> JobSample:
        found = self.seen[name].sample
        if found is None:
            message = f"job {name} was never seen"
            raise LookupError(message)
        return found

    def _look(self, seen: Observation, now: datetime) -> Observation:
        if seen.sample is None:
            return seen
        settings = EngineSettings(
            checkpoint_interval_s=10.0,
            slots_per_task_manager=self.per_worker,
            adaptive=not self.engine_reactive,
            reactive=self.engine_reactive,
        )
        used = sum(slots_of(one.sample.topology) for one in self.seen.values() if one.sample)
        fresh = replace(
            seen.sample,
            at=now,
            settings=settings,
            slots_total=self.slots,
            slots_free=max(0, self.slots - used),
            checkpointed_at=self.checkpointed_at,
        )
        return replace(seen, sample=fresh)

    async def _decide(self, seen: Observation, now: datetime) -> Decision:
        if seen.sample is None:
            return not_ready(seen.ctx.key, seen.problem or NOT_RUNNING, now)
        name, taken = seen.ctx.key.name, seen.sample
        answer = (
            NotReady(reason=Reason.WINDOW_FILLING, message="not yet")
            if name in self.unknown
            else evaluated(taken.topology, self.factors)
        )
        decision = await self.decider.decide(seen.ctx, taken, answer, now, self.states.get(name, UNSEEN))
        if not is_reactive(seen.ctx.options) and self.mode is Mode.ACT:
            decision = await_workers(self.steering.ledger, taken, decision, replaces=False)
        if decision.changes and self.mode is Mode.ACT:
            wanted = {vertex: change.wanted for vertex, change in decision.changes.items()}
            self.seen[name] = replace(seen, sample=replace(taken, topology=taken.topology.with_parallelism(wanted)))
        return decision

    def _grow(self) -> None:
        """Let the workers that were asked for be there by the next tick."""
        if self.provider is None or in_force(self.mode) is not Mode.ACT or self.provider.fault:
            return
        self.slots = self.provider.wanted * self.per_worker + self.foreign_slots
        for name in self.seen:
            if self.engine_reactive and self.seen[name].sample:
                self._run_at(name, self.slots)

    def _fit(self, name: str, slots: int) -> None:
        self._run_at(name, min(slots, max(self._sample(name).topology.parallelism.values())))

    def _run_at(self, name: str, most: int) -> None:
        taken = self._sample(name)
        topology, grows = taken.topology, self.engine_reactive
        wanted = {vertex: most if grows else min(p, most) for vertex, p in topology.parallelism.items()}
        self.seen[name] = replace(self.seen[name], sample=replace(taken, topology=topology.with_parallelism(wanted)))
