"""A scenario: jobs on a fake engine and the cycle that looks after them, tick by tick, restarted at each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.deciding import Decider, PlainDecider
from headgate.control.observation import Observer
from headgate.control.outbox import Outbox
from headgate.control.reactive.steering import Steering
from headgate.control.redeployment import Redeployment
from headgate.control.rollback.step import RollbackStep
from headgate.model.decision import Decision
from headgate.options.service import Mode
from headgate.ports import StateStore
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import at, evaluated
from headgate.testing.fakes import FakeEngine, FakeEvaluator, RecordingEvents, RecordingLog


@dataclass
class Scenario:
    """Everything around one cycle: the engine, the store, the log, and what was told."""

    engine: FakeEngine = field(default_factory=FakeEngine)
    store: StateStore = field(default_factory=MemoryStateStore)
    events: RecordingEvents = field(default_factory=RecordingEvents)
    log: RecordingLog = field(default_factory=RecordingLog)
    factors: dict[str, float] = field(default_factory=dict)
    evaluator: FakeEvaluator = field(init=False)
    mode: Mode = Mode.ACT
    decider: Decider = field(default_factory=PlainDecider)
    rollback: RollbackStep = field(default_factory=RollbackStep)
    steering: Steering | None = None
    redeployment: Redeployment = field(default_factory=Redeployment)

    def __post_init__(self) -> None:
        """Let one diary run through engine and events, and every job need what `factors` says."""
        self.events.diary = self.engine.diary
        self.evaluator = FakeEvaluator(lambda one: evaluated(one.sample.topology, self.factors))
        self.observer = Observer(
            fetcher=self.engine,
            collector=self.engine,
            sink=self.log,
            events=self.events,
            time_limit=timedelta(seconds=5),
        )

    async def tick(self, seconds: float) -> Mapping[str, Decision]:
        """Observe and decide once, as a freshly started process would."""
        await self.observer.observe(at(seconds))
        decisions = await self.cycle().run(self.observer.latest, at(seconds), failed=self.observer.failed)
        return {decision.job.name: decision for decision in decisions}

    def cycle(self) -> Cycle:
        """Build the cycle anew: it holds nothing that a restart would lose."""
        outbox = Outbox(store=self.store, events=self.events)
        return Cycle(
            mode=self.mode,
            evaluator=self.evaluator,
            actuator=Actuator(
                collector=self.engine,
                realizer=self.engine,
                outbox=outbox,
                events=self.events,
                redeployment=self.redeployment,
            ),
            outbox=outbox,
            events=self.events,
            decisions=self.log,
            decider=self.decider,
            rollback=self.rollback,
            steering=self.steering,
        )
