"""A running service between its ticks: it looks at what is changing, and decides, at instants that are no tick's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

from tests.unit.control.streaming import CALM, RETURNS, Load, StreamingEngine
from tests.unit.no_time import JumpingLoop, in_no_time

from headgate.control.early import EarlyTicks
from headgate.control.observation import Observer
from headgate.control.runner import Runner, tick_of
from headgate.errors import UnreachableError
from headgate.model.decision import Decision
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample
from headgate.ports import Candidate, JobContext
from headgate.testing.builders import ORDERS, START
from headgate.testing.fakes import FakeEngine, FakeEvaluator, RecordingLog
from headgate.testing.scenario import Scenario

COLLECT, CLOSELY = timedelta(milliseconds=40), timedelta(milliseconds=10)
BEFORE = 20
"""Samples that are taken before the load grows."""


@dataclass
class GrowingEngine(StreamingEngine):
    """An engine on which the load of one job grows once it was looked at often enough."""

    before: int = BEFORE
    takes: timedelta = timedelta()
    """How long it takes to answer at a tick."""
    closely_takes: timedelta = timedelta()
    """How long it takes to answer between the ticks."""

    def __post_init__(self) -> None:
        """Let two jobs run."""
        self.run(ORDERS)
        self.run(RETURNS)
        self.loads = {job: Load(rates={0: 100 * CALM}) for job in (ORDERS, RETURNS)}

    async def update_metrics(self, ctx: JobContext, tick: datetime, /) -> JobSample:
        """Measure."""
        if ctx.key == ORDERS and len(self.looks(ORDERS)) == self.before:
            self.loads[ORDERS] = Load(rates={0: 100 * CALM, (tick - START).total_seconds(): 400 * CALM})
        await passed(self.takes if is_tick(tick) else self.closely_takes)
        return await super().update_metrics(ctx, tick)

    def looks(self, job: JobKey) -> list[datetime]:
        """Give when a job was looked at."""
        return [at for looked_at, at in self.asked if looked_at == job]


@dataclass
class SlowEvaluator:
    """Takes a while for the usual cycles, and notes by what each of them goes."""

    behind: FakeEvaluator
    takes: timedelta
    asked: list[tuple[datetime, float, dict[JobKey, datetime]]] = field(default_factory=list)
    """The tick of each cycle, the second at which it was evaluated, and the instants of the samples."""

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """Take it."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, JumpingLoop)
        loop.threads.takes_s = self.takes.total_seconds()
        self.asked.append((now, loop.time(), {one.sample.job: one.sample.at for one in candidates}))
        return self.behind.evaluate(candidates, now)


async def passed(time: timedelta) -> None:
    """Let some time pass."""
    if not time:
        return
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(time.total_seconds(), over.set)
    await over.wait()


class BrokenTicks(EarlyTicks):
    """Cannot look."""

    async def look(self, at: datetime) -> None:
        """Fail."""
        message = f"planted at {at}"
        raise UnreachableError(message)


@dataclass
class Service:
    """A service in front of the two jobs, on a clock that begins with it."""

    engine: GrowingEngine = field(default_factory=GrowingEngine)
    world: Scenario = field(init=False)
    usual: list[Decision] = field(default_factory=list)
    early: list[Decision] = field(default_factory=list)
    made: list[Decision] = field(default_factory=list)
    """All of them, in the order in which they were made."""
    evaluated: SlowEvaluator = field(init=False)
    others: tuple[Observer, ...] = ()
    """Of other clusters."""
    early_ticks: type[EarlyTicks] = EarlyTicks
    closely: timedelta = CLOSELY
    is_over: Callable[[Service], bool] = lambda service: len(service.early) > 0

    def __post_init__(self) -> None:
        """Put the pieces together."""
        self.world, self._stop = Scenario(engine=self.engine), asyncio.Event()

    def clock(self) -> datetime:
        """Give the present."""
        return START + timedelta(seconds=asyncio.get_running_loop().time())

    def _listen(self, told: list[Decision], decisions: tuple[Decision, ...]) -> None:
        told.extend(decisions)
        self.made.extend(one for one in decisions if one not in self.made)
        if self.is_over(self):
            self._stop.set()

    async def run(self, *, decides: bool = True, takes: timedelta = timedelta(), every: timedelta = COLLECT) -> None:
        """Run until it is over."""
        self.evaluated = SlowEvaluator(self.world.evaluator, takes)
        cycle = replace(
            self.world.cycle(),
            evaluator=self.evaluated,
            early=self.world.evaluator,
            early_decisions=RecordingLog(),
        )
        observers = (self.world.observer, *self.others)
        runner = Runner(
            observers=observers,
            cycle=cycle,
            events=self.world.events,
            collect_interval=COLLECT,
            decide_interval=every,
            clock=self.clock,
            early=self.early_ticks(observers=observers, cycle=cycle, interval=self.closely),
            decides=decides,
            on_decisions=lambda decisions: self._listen(self.usual, decisions),
            on_early_decisions=lambda decisions: self._listen(self.early, decisions),
        )
        async with asyncio.timeout(30):
            await runner.run(self._stop)

    def look_after(self, engine: FakeEngine, cluster: str) -> None:
        """Look at the jobs of another cluster too."""
        limit = timedelta(seconds=5)
        world = self.world
        other = Observer(
            fetcher=engine,
            collector=engine,
            sink=world.log,
            events=world.events,
            time_limit=limit,
            cluster=cluster,
        )
        self.others = (*self.others, other)

    def stop_after(self, seconds: float) -> None:
        """Stop by then, whatever has happened."""
        asyncio.get_running_loop().call_later(seconds, self._stop.set)


def is_tick(at: datetime) -> bool:
    """Tell whether an instant is a usual tick's."""
    return tick_of(at, COLLECT) == at


@in_no_time
async def test_a_job_that_changes_is_decided_for_between_the_ticks() -> None:
    """It alone, and at an instant that no cycle has: the log tells both apart by their time."""
    service = Service()

    await service.run(every=timedelta(seconds=20))

    assert {decision.job for decision in service.early} == {ORDERS}
    assert not any(is_tick(decision.at) for decision in service.early)


@in_no_time
async def test_only_the_job_that_changes_is_looked_at_between_the_ticks() -> None:
    """The other one is asked at its ticks, and so is this one before its change."""
    service = Service()

    await service.run(every=timedelta(seconds=20))

    looks = service.engine.looks(ORDERS)
    assert all(is_tick(at) for at in [*service.engine.looks(RETURNS), *looks[:BEFORE]])


@in_no_time
async def test_a_change_that_a_usual_look_shows_is_decided_for_at_once() -> None:
    """Nobody waits until it would be looked at between the ticks, and nobody looks then."""
    service = Service(closely=timedelta(seconds=2))

    await service.run(every=timedelta(seconds=20))

    assert {decision.job for decision in service.early} == {ORDERS}
    assert all(is_tick(at) for at in service.engine.looks(ORDERS))


@in_no_time
async def test_where_somebody_else_decides_nothing_is_done_between_the_ticks() -> None:
    """A process that only takes samples takes them at their ticks."""
    service = Service()
    service.stop_after(1.5)

    await service.run(decides=False)

    assert service.made == []
    assert len(service.engine.looks(ORDERS)) > BEFORE
    assert all(is_tick(at) for _, at in service.engine.asked)


@in_no_time
async def test_what_fails_between_the_ticks_is_an_event_and_no_more() -> None:
    """The service goes on, its ticks too, and looks again at the next occasion."""
    service = Service(is_over=lambda service: len(service.world.events.told) > 6)
    service.early_ticks = BrokenTicks
    await service.run()

    told = [event for event in service.world.events.told if event.reason is EventReason.AUTOSCALER_ERROR]
    assert len(told) > 1
    assert all("deciding early" in event.message for event in told)


@in_no_time
async def test_a_job_is_decided_for_in_the_order_of_time() -> None:
    """However long a look between the ticks takes, or a cycle: what is decided after it was decided later."""
    service = Service(is_over=lambda service: len(service.early) > 1 and len(service.usual) > 20)
    service.engine.closely_takes = timedelta(milliseconds=117)

    await service.run(takes=timedelta(milliseconds=97), every=timedelta(milliseconds=200))

    of_orders = [decision.at for decision in service.made if decision.job == ORDERS]
    assert all(earlier < later for earlier, later in pairwise(of_orders))


@in_no_time
async def test_what_is_seen_while_a_cycle_is_evaluated_counts_and_is_decided_on() -> None:
    """As at a start, where the first cycle has to wait for Spark: twenty seconds of it make nobody blind."""
    service = Service()

    await service.run(takes=timedelta(seconds=20), every=timedelta(seconds=20))

    assert {decision.job for decision in service.early} == {ORDERS}
    assert {decision.at < START + timedelta(seconds=2) for decision in service.early} == {True}


@in_no_time
async def test_a_cycle_leaves_a_job_at_what_was_decided_on_it_meanwhile() -> None:
    """Its own evaluation is older: nothing is asked for or kept by it, and whoever is told hears of the newer one."""
    cycle = START + timedelta(seconds=2)
    service = Service(is_over=lambda service: any(decision.at == cycle for decision in service.usual))
    service.engine.before = 55
    asyncio.get_running_loop().call_later(2.1, service.world.factors.update, {"agg": 4.0})

    await service.run(takes=timedelta(seconds=1), every=timedelta(seconds=2))

    assert {decision.job for decision in service.world.log.decisions if decision.at == cycle} == {RETURNS}
    assert len(service.engine.requests) == sum(one.acts for one in service.early) > 0
    assert any(one in service.usual for one in service.early)
    assert EventReason.AUTOSCALER_ERROR not in service.world.events.reasons


@in_no_time
async def test_a_cluster_that_hangs_between_the_ticks_keeps_nobody_from_looking_at_another() -> None:
    """Its job is changing as well, and takes five seconds to say nothing."""
    lab, silent = JobKey("lab", "orders"), GrowingEngine(closely_takes=timedelta(seconds=9))
    silent.contexts.clear()
    silent.run(lab)
    silent.loads = {lab: Load(rates={0: 100 * CALM, 0.8: 400 * CALM})}
    service = Service(is_over=lambda service: len(between(service.engine.looks(ORDERS))) > 6)
    service.look_after(silent, "lab")

    await service.run(every=timedelta(seconds=20))

    looks = between(service.engine.looks(ORDERS))
    assert any("no sample within 5 s" in event.message for event in service.world.events.told)
    assert looks[-1] - looks[0] < timedelta(seconds=1)


def between(looks: Sequence[datetime]) -> list[datetime]:
    """Give those that are no tick's."""
    return [at for at in looks if not is_tick(at)]


@in_no_time
async def test_a_cycle_goes_by_the_samples_of_its_own_tick() -> None:
    """It begins with the looks at its clusters, and waits for them."""
    service = Service(is_over=lambda service: len(service.evaluated.asked) > 9)
    service.engine.takes = timedelta(milliseconds=3)

    await service.run(every=COLLECT)

    assert {(sampled, tick) for tick, _, samples in service.evaluated.asked for sampled in samples.values()} == {
        (tick, tick) for tick, _, _ in service.evaluated.asked
    }


@in_no_time
async def test_a_cluster_that_hangs_costs_the_others_a_quarter_of_a_tick() -> None:
    """Then they are decided for by what was seen at that tick all the same."""
    hanging = GrowingEngine(takes=timedelta(seconds=9))
    service = Service(is_over=lambda service: len(service.evaluated.asked) > 9)
    service.look_after(hanging, "lab")

    await service.run(every=COLLECT)

    assert all(samples[ORDERS] == tick for tick, _, samples in service.evaluated.asked)
    late = [timedelta(seconds=second) - (tick - START) for tick, second, _ in service.evaluated.asked]
    assert max(late) <= COLLECT / 4 + timedelta(milliseconds=1)
