"""Headgate's control loop in front of a simulated cluster, as `wiring` puts it together in front of real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.algorithm.rules import reach
from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.deciding import PluginDecider
from headgate.control.early import EarlyTicks
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.control.reactive.deciding import ReactiveDecider
from headgate.control.reactive.steering import Steering
from headgate.control.restarts import Restarts
from headgate.control.rollback.step import RollbackStep
from headgate.engines.simulated.cluster import SimulatedCluster
from headgate.engines.simulated.collector import SimulatedMetricCollector
from headgate.engines.simulated.history import SimulatedFailureHistory
from headgate.engines.simulated.jobs import SimulatedJobListFetcher
from headgate.engines.simulated.realizer import SimulatedScalingRealizer
from headgate.events.merging import MergingEventHandler
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.options.service import Mode
from headgate.pipeline.downtime import DowntimeLearner
from headgate.pipeline.downtime_book import NotedDecisions, NotedSamples, RescaleBook
from headgate.pipeline.in_process import InProcessEvaluator
from headgate.pipeline.selected import SelectedEvaluator
from headgate.ports import StateStore
from headgate.simulate.plugins import inline_host
from headgate.simulate.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Kept:
    """Takes decisions and events, and keeps them all."""

    decisions: list[Decision]
    events: list[Event]

    def append_decisions(self, decisions: Sequence[Decision], /) -> None:
        """Keep the decisions of one cycle."""
        self.decisions.extend(decisions)

    def handle(self, event: Event, /) -> None:
        """Keep an event."""
        self.events.append(event)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlLoop:
    """What observes and decides."""

    observer: Observer
    cycle: Cycle
    early: EarlyTicks

    async def decide(self, now: datetime) -> None:
        """Run one cycle over what was observed last, with all that is known by then of how long rescales take."""
        self.cycle.restarts.learn(now)
        await self.cycle.run(self.observer.latest, now)

    async def decide_early(self, now: datetime, *, observed: bool = False) -> None:
        """Decide for jobs of which enough is known; changing ones are looked at again unless they just were."""
        await (self.early.note() if observed else self.early.look(now))
        await self.early.decide(now)


def control_loop(scenario: Scenario, cluster: SimulatedCluster, kept: Kept, store: StateStore) -> ControlLoop:
    """Put Headgate together as the service does, but in front of a simulated cluster."""
    events = MergingEventHandler(kept)
    collector = SimulatedMetricCollector(cluster)
    outbox = Outbox(store=store, events=events)
    fleet = InProcessEvaluator(collect_interval=scenario.collect_interval, keep=reach(scenario.autoscaler))
    steering = Steering(events=events)
    book = RescaleBook()
    downtimes = DowntimeLearner(book)
    observer = Observer(
        fetcher=SimulatedJobListFetcher(cluster, lambda _: scenario.autoscaler),
        collector=collector,
        sink=NotedSamples(fleet, book),
        events=events,
        time_limit=timedelta(minutes=1),
        is_changing=outbox.is_changing,
    )
    cycle = Cycle(
        mode=Mode.ACT,
        evaluator=SelectedEvaluator(
            fleet=fleet, windows=fleet, host=inline_host(), events=events, collect_interval=scenario.collect_interval
        ),
        actuator=Actuator(
            collector=collector, realizer=SimulatedScalingRealizer(cluster), outbox=outbox, events=events
        ),
        outbox=outbox,
        events=events,
        decisions=NotedDecisions(kept, book),
        restarts=Restarts(model=downtimes, learn=downtimes.learn),
        steering=steering,
        rollback=RollbackStep(failures=SimulatedFailureHistory(cluster)),
        decider=ReactiveDecider(
            usual=PluginDecider(host=inline_host(), events=events), events=events, ledger=steering.ledger
        ),
        # Deciding takes no time in a simulation, however long it really takes.
        stopwatch=lambda: 0.0,
    )
    return ControlLoop(observer=observer, cycle=cycle, early=EarlyTicks(observers=(observer,), cycle=cycle))
