"""A paused job is never changed, whatever its load, its engine, its doctor, its store and its processes are up to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import methodcaller

from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.control.deciding import Answer, PlainDecider
from headgate.errors import HeadgateError, RefusedError, UnreachableError
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.orders import Given, StandingOrders
from headgate.model.rollback import Evidence
from headgate.ports import JobContext
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.fakes import FakeEngine
from headgate.testing.scenario import Scenario

_STEP_S = 60.0


class FickleStore(MemoryStateStore):
    """A store that sometimes does not tell what is ordered."""

    is_mute = False

    def orders(self) -> StandingOrders:
        """Tell, or do not."""
        if self.is_mute:
            message = "no answer"
            raise UnreachableError(message)
        return super().orders()


@dataclass(frozen=True)
class Doctor(PlainDecider):
    """Condemns a job that was rescaled and is down."""

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Say so."""
        if ctx.aftermath is None or ctx.aftermath.status is JobStatus.RUNNING:
            return None
        return Evidence(checker="never-running", found="it does not run")


@dataclass
class World:
    """One job, what happens to it, and what was asked for while it was paused."""

    store: FickleStore = field(default_factory=FickleStore)
    clock_s: float = 0.0
    changed_while_paused: list[Mapping[VertexId, int]] = field(default_factory=list)
    changed: int = 0
    is_paused: bool = False
    """As the store last told."""

    def __post_init__(self) -> None:
        """Let the job run."""
        engine = FakeEngine()
        engine.add(context(), sample(chain({"source": 1, "agg": 1})))
        self.scenario = Scenario(engine=engine, store=self.store, decider=Doctor(), factors={"agg": 4.0})
        self.cycle = self.scenario.cycle()

    async def tick(self) -> None:
        """Let a cycle pass, and note what it has asked the engine for."""
        self.clock_s += _STEP_S
        requests = self.scenario.engine.requests
        if not self.store.is_mute:
            self.is_paused = self.store.orders().pause_of(ORDERS) is not None
        before = len(requests)
        await self.scenario.observer.observe(at(self.clock_s))
        await self.cycle.run(self.scenario.observer.latest, at(self.clock_s))
        self.changed += len(requests) - before
        self.changed_while_paused += requests[before:] if self.is_paused else []

    def restart(self) -> None:
        """End the process and begin another."""
        self.cycle = self.scenario.cycle()

    def order(self, job: JobKey | None, *, paused: bool) -> None:
        """Pause or resume a job, or all."""
        pause = Given(at=at(self.clock_s), by="anna@host") if paused else None
        self.store.change_orders(job, lambda orders: replace(orders, pause=pause))

    def need(self, factor: float) -> None:
        """Let the job need another number of subtasks."""
        self.scenario.factors = {"agg": factor}
        self.cycle = replace(self.cycle, evaluator=self.scenario.evaluator)

    def be(self, status: JobStatus) -> None:
        """Let the job run, or not."""
        contexts = self.scenario.engine.contexts
        contexts[ORDERS] = replace(contexts[ORDERS], status=status)

    def fail(self, fault: HeadgateError) -> None:
        """Let the engine answer the next request so."""
        self.scenario.engine.realize_faults.append(fault)

    def obey(self, *, promptly: bool) -> None:
        """Let the engine do what it is asked for, or not."""
        self.scenario.engine.obeys = promptly

    def mute(self, *, is_mute: bool) -> None:
        """Let the store keep quiet about orders, or not."""
        self.store.is_mute = is_mute


Step = Callable[[World], Awaitable[None] | None]

_STEPS: list[Step] = [
    *[methodcaller("tick")] * 8,
    methodcaller("restart"),
    *(methodcaller("order", job, paused=paused) for job in (ORDERS, None) for paused in (True, True, False)),
    *(methodcaller("need", factor) for factor in (0.3, 1.0, 4.0)),
    *(methodcaller("be", status) for status in (JobStatus.RUNNING, JobStatus.RESTARTING)),
    *(methodcaller("fail", fault) for fault in (UnreachableError("no answer"), RefusedError("no"))),
    *(methodcaller("obey", promptly=promptly) for promptly in (True, False)),
    *(methodcaller("mute", is_mute=is_mute) for is_mute in (True, False)),
]


async def lived(steps: list[Step]) -> World:
    """Let all of it happen."""
    world = World()
    for step in steps:
        waited = step(world)
        if waited is not None:
            await waited
    return world


@given(st.lists(st.sampled_from(_STEPS), min_size=10, max_size=60))
@settings(max_examples=60, deadline=None)
def test_a_paused_job_is_never_changed(steps: list[Step]) -> None:
    """No rescale, no rollback, no second request, from the first cycle that is told of it until it is over."""
    assert asyncio.run(lived(steps)).changed_while_paused == []


def test_a_job_that_is_not_paused_is_changed() -> None:
    """The same world without the order: the rule above does not hold by idleness."""
    assert asyncio.run(lived([World.tick])).changed == 1
