"""The very same control loop as the service's, on a simulated cluster and with its clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

from headgate.algorithm.rules import is_fast
from headgate.control.early import CLOSELY
from headgate.engines.simulated.cluster import START, SimulatedCluster
from headgate.engines.simulated.failures import planned
from headgate.engines.simulated.settings import Conditions
from headgate.model.decision import Decision
from headgate.model.events import Event, EventReason
from headgate.model.identity import JobKey
from headgate.simulate.inline import inline_loop
from headgate.simulate.loop import Kept, control_loop
from headgate.simulate.recording import JobRun, Recorder, Run
from headgate.simulate.scenario import Scenario
from headgate.stores.memory import MemoryStateStore

Progress = Callable[[timedelta], None]


def silently(_: timedelta) -> None:
    """Tell nobody how far the simulation is."""


class Simulation:
    """
    Headgate, acting, on a simulated cluster.

    Attributes:
        scenario: what is simulated.
        cluster: the cluster as it is now; whoever steps through a simulation may look at it, and change it.
        decisions: all so far, in order.
        events: all so far, in order.
    """

    def __init__(self, scenario: Scenario) -> None:
        """Submit the jobs; no time has passed."""
        self.scenario = scenario
        self.cluster = cluster_of(scenario)
        self.decisions: list[Decision] = []
        self.events: list[Event] = []
        self._recorder = Recorder(self.cluster)
        self._store = MemoryStateStore()
        self.restart_headgate()
        self._collected = self._decided = self._looked = timedelta()

    def run(self, progress: Progress = silently) -> Run:
        """Simulate what is left of the scenario's duration, and give the result."""
        self.advance_to(self.scenario.duration, progress)
        return self.result

    def advance_to(self, at: timedelta, progress: Progress = silently) -> None:
        """
        Let time pass until so long after the beginning, with every tick on the way.

        Call it outside of any event loop: it runs one of its own.
        """
        with asyncio.Runner(loop_factory=inline_loop) as runner:
            runner.run(self._advance_to(at, progress))

    def restart_headgate(self) -> None:
        """Begin with a new control loop: what the old one had not saved is forgotten, the samples included."""
        kept = Kept(self.decisions, self.events)
        self._loop = control_loop(self.scenario, self.cluster, kept, self._store)

    @property
    def result(self) -> Run:
        """What has happened so far."""
        jobs = {**self.cluster.jobs, **self.cluster.gone}
        return Run(
            scenario=self.scenario,
            jobs={
                name: JobRun(
                    name=name,
                    frames=tuple(frames),
                    restarts=tuple(jobs[name].restarts),
                    decisions=tuple(decision for decision in self.decisions if decision.job.name == name),
                    setbacks=tuple(jobs[name].retries.setbacks),
                    rollbacks=tuple(event for event in self.events if _takes_back(event, name)),
                )
                for name, frames in self._recorder.frames.items()
            },
            events=tuple(self.events),
        )

    async def _advance_to(self, at: timedelta, progress: Progress) -> None:
        while (tick := self._next_tick()) <= at:
            self.cluster.advance_to(tick.total_seconds())
            await self._tick(tick)
            progress(tick)
        self.cluster.advance_to(at.total_seconds())
        self._recorder.take()

    def _next_tick(self) -> timedelta:
        early = [self._looked + CLOSELY] if is_fast(self.scenario.autoscaler) else []
        return min(
            self._collected + self.scenario.collect_interval,
            self._decided + self.scenario.decide_interval,
            *early,
        )

    async def _tick(self, tick: timedelta) -> None:
        now = START + tick
        if tick == self._collected + self.scenario.collect_interval:
            self._collected = tick
            self._recorder.take()
            await self._loop.observer.observe(now)
        self._looked = tick
        if tick == self._decided + self.scenario.decide_interval:
            self._decided = tick
            await self._loop.decide(now)
        else:
            await self._loop.decide_early(now, observed=self._collected == tick)


def _takes_back(event: Event, job: str) -> bool:
    return event.reason is EventReason.ROLLBACK and isinstance(event.subject, JobKey) and event.subject.name == job


def simulate(scenario: Scenario) -> Run:
    """Run a scenario to its end."""
    return Simulation(scenario).run()


def cluster_of(scenario: Scenario) -> SimulatedCluster:
    """Make the cluster of a scenario, its jobs submitted, without any Headgate."""
    conditions = Conditions(
        settings=scenario.cluster,
        seed=scenario.seed,
        step_s=scenario.step.total_seconds(),
        measurement_noise=scenario.measurement_noise,
    )
    failures = planned(scenario.failures, scenario.random_failures, seed=scenario.seed, until=scenario.duration)
    return SimulatedCluster(scenario.jobs, conditions=conditions, failures=failures)
