"""What people order through the store: a pause that nothing gets past, options over all others, and that it lasts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event as Flag
from threading import Thread

from tests.unit.control.ward import AGG, Doctor, options, state, told

from headgate.control.observation import Observer
from headgate.control.orders import OrderBook
from headgate.control.reactive.steering import Steering
from headgate.control.redeployment import Redeployment
from headgate.errors import UnreachableError
from headgate.model.decision import Decision, Outcome
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.orders import Given, Orders, StandingOrders
from headgate.model.reasons import Reason
from headgate.model.redeploy import Launch
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import WorkersOptions
from headgate.ports import JobContext
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.fakes import FakeEngine
from headgate.testing.reacting import FakeProvider, ReactiveStage, reactive
from headgate.testing.scenario import Scenario

PAUSE = Given(at=at(0), by="anna@host", why="latency is up")


def pause(world: Scenario, job: JobKey | None = ORDERS) -> None:
    """Order that nothing is changed."""
    world.store.change_orders(job, lambda orders: replace(orders, pause=PAUSE))


def resume(world: Scenario, job: JobKey | None = ORDERS) -> None:
    """Take that back."""
    world.store.change_orders(job, lambda orders: replace(orders, pause=None))


def set_options(world: Scenario, **settings: str) -> None:
    """Set options of the job, and no others."""
    chosen = {f"job.autoscaler.{name}": text for name, text in settings.items()}
    world.store.change_orders(ORDERS, lambda _: Orders(options=chosen))


def of_orders(decisions: Mapping[str, Decision]) -> Decision:
    """Give what was decided for the job."""
    return decisions["orders"]


async def test_a_paused_job_is_evaluated_and_left_alone(world: Scenario) -> None:
    """Its decision has the numbers of what would have been done, and says who ordered otherwise."""
    pause(world)
    decision = of_orders(await world.tick(0))
    assert (decision.outcome, decision.reason, decision.acts) == (Outcome.KEEP, Reason.PAUSED, False)
    assert decision.message.startswith("paused by anna@host at ")
    assert "latency is up; without that: " in decision.message
    assert decision.proposals[1].wanted == 4
    assert world.engine.requests == []


async def test_a_resumed_job_is_changed_again(world: Scenario) -> None:
    """With the next cycle, in whatever process that runs: each cycle here is one of its own."""
    pause(world)
    for tick in range(3):
        await world.tick(30 * tick)
    resume(world)
    assert of_orders(await world.tick(90)).reason is Reason.RESCALED
    assert world.engine.requests == [{"agg": 4}]


async def test_a_pause_of_all_holds_for_a_job_that_comes_later(world: Scenario) -> None:
    """And it is not taken back by resuming one job."""
    pause(world, None)
    other = JobKey("prod", "other")
    world.engine.add(context(other), sample(chain({"source": 1, "agg": 1}), job=other))
    resume(world)
    decisions = await world.tick(0)
    assert {decision.reason for decision in decisions.values()} == {Reason.PAUSED}
    resume(world, None)
    await world.tick(30)
    assert len(world.engine.requests) == 2


async def test_begin_and_end_of_a_pause_are_told_once(world: Scenario) -> None:
    """However many processes look after the job in between."""
    pause(world)
    await world.tick(0)
    await world.tick(30)
    resume(world)
    await world.tick(60)
    await world.tick(90)
    (began,), (ended,) = told(world, EventReason.PAUSED), told(world, EventReason.RESUMED)
    assert "paused by anna@host" in began
    assert ended.startswith("resumed; it was paused by anna@host")


async def test_a_request_that_may_not_have_arrived_is_not_repeated(world: Scenario) -> None:
    """It is withdrawn: after the pause it is decided anew."""
    world.engine.realize_faults.append(UnreachableError("no answer"))
    await world.tick(0)
    assert state(world).intent
    pause(world)
    await world.tick(30)
    assert state(world).intent is None
    assert world.engine.requests == []


async def test_a_job_that_falls_ill_while_it_is_paused_is_taken_back_afterwards(ward: Scenario) -> None:
    """However long that was: its time of observation does not run out while nothing may be done."""
    ward.decider = Doctor(too_many=4)
    await ward.tick(0)
    ward.factors = {}
    pause(ward)
    for hour in range(4):
        await ward.tick(30 + 3_600 * hour)
    assert ward.engine.requests == [{"agg": 4}]
    assert len(told(ward, EventReason.ROLLBACK_WITHHELD)) == 1
    resume(ward)
    await ward.tick(4 * 3_600)
    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]


async def test_a_job_that_was_watched_and_well_during_a_pause_has_proved_good(ward: Scenario) -> None:
    """Watching goes on: there is nothing to make up for afterwards."""
    await ward.tick(0)
    ward.factors = {}
    pause(ward)
    for hour in range(2):
        await ward.tick(30 + 3_600 * hour)
    assert state(ward).trial is None


@dataclass
class RedeployingEngine(FakeEngine):
    """An engine whose job is stopped before it is started anew: how far it is, and what it was allowed to begin."""

    stopped: bool = False
    began: list[bool] = field(default_factory=list)

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Finish what is half done; begin only what may be begun."""
        self.began.append(ctx.options.scaling_enabled)
        if not self.stopped:
            return False
        assert ctx.intent
        assert ctx.intent.redeploy
        self.requests.append(dict(overrides))
        return True


async def test_a_redeploy_between_stop_and_start_is_finished() -> None:
    """One that has not begun is not begun."""
    engine = RedeployingEngine()
    redeployment = Redeployment(applies=lambda _: True, launch_of=lambda _: Launch(jar="job.jar", parallelism=1))
    world = Scenario(engine=engine, factors={"agg": 4.0}, redeployment=redeployment)
    graph = chain({"source": 1, "agg": 1})
    engine.add(context(), sample(graph, settings=EngineSettings(adaptive=False)))
    await world.tick(0)
    pause(world)
    await world.tick(30)
    assert engine.began == [True, False]
    engine.stopped = True
    engine.remove(ORDERS)
    await world.tick(60)
    assert engine.requests == [{"source": 4, "agg": 4}]


async def test_a_paused_reactive_job_keeps_its_slots_and_its_cluster_the_workers() -> None:
    """Neither more for its load, nor fewer when it needs less, though they had begun to go."""
    workers = WorkersOptions(provider="fake", least=1, most=10, scale_down_interval=timedelta(seconds=30))
    stage = ReactiveStage(slots=4, provider=FakeProvider(wanted=2), workers=workers)
    stage.add("orders", reactive())
    for second in (0, 10, 20):
        await stage.tick(second)
    before = stage.parallelism("orders")
    seen = stage.seen["orders"]
    stage.seen["orders"] = replace(seen, ctx=replace(seen.ctx, orders=Orders(pause=PAUSE)))
    for factors in ({"agg": 9.0}, {"agg": 0.1, "source": 0.1}):
        stage.factors = factors
        for second in range(30, 300, 10):
            await stage.tick(second)
        assert stage.provider
        assert (stage.provider.wanted, stage.parallelism("orders")) == (2, before)


async def test_ordered_options_hold_over_all_others(world: Scenario) -> None:
    """At once, and until they are unset: also over what the job says of itself, which is in its context."""
    world.engine.contexts[ORDERS] = context(options=AutoscalerOptions(max_parallelism=8))
    set_options(world, **{"vertex.max-parallelism": "2"})
    decision = of_orders(await world.tick(0))
    assert decision.changes[AGG].wanted == 2


async def test_an_option_that_became_invalid_is_told_and_left_out(world: Scenario) -> None:
    """As after an upgrade: what is still right holds, and the job is looked after."""
    set_options(world, **{"vertex.max-parallelism": "2", "gone.since": "1"})
    decision = of_orders(await world.tick(0))
    assert decision.changes[AGG].wanted == 2
    (message,) = told(world, EventReason.OPTIONS_INVALID)
    assert message.startswith("headgate set: job.autoscaler.gone.since: unknown option")


class MuteStore(MemoryStateStore):
    """A store that keeps quiet about orders."""

    is_mute = True

    def orders(self) -> StandingOrders:
        """Tell, or do not."""
        if self.is_mute:
            message = "the state store did not answer"
            raise UnreachableError(message)
        return super().orders()


async def test_nothing_is_decided_before_the_orders_are_known() -> None:
    """Any job may be one that must not be changed."""
    store = MuteStore()
    world = Scenario(store=store, factors={"agg": 4.0})
    world.engine.add(context(), sample(chain({"source": 1, "agg": 1})))
    decision = of_orders(await world.tick(0))
    assert (decision.outcome, decision.reason) == (Outcome.NOT_READY, Reason.CYCLE_FAILED)
    assert (world.engine.requests, world.events.reasons[-1]) == ([], EventReason.AUTOSCALER_ERROR)
    store.is_mute = False
    await world.tick(30)
    assert world.engine.requests == [{"agg": 4}]


async def test_a_pause_is_not_forgotten_while_the_store_is_quiet() -> None:
    """What it told last holds, within one process."""
    store = MuteStore()
    world = Scenario(store=store, factors={"agg": 4.0})
    world.engine.add(context(), sample(chain({"source": 1, "agg": 1})))
    pause(world)
    store.is_mute = False
    cycle = world.cycle()
    await world.observer.observe(at(0))
    await cycle.run(world.observer.latest, at(0))
    store.is_mute = True
    (decision,) = await cycle.run(world.observer.latest, at(30))
    assert (decision.reason, world.engine.requests) == (Reason.PAUSED, [])


@dataclass
class AttentiveEngine(FakeEngine):
    """An engine that notes with which options its jobs are observed."""

    bounds: list[int] = field(default_factory=list)

    async def update_metrics(self, ctx: JobContext, tick: datetime, /) -> JobSample:
        """Note it."""
        self.bounds.append(ctx.options.max_parallelism)
        return await super().update_metrics(ctx, tick)


async def test_a_job_is_observed_with_ordered_options_too() -> None:
    """From the first reading of the orders on; what is listed stays as it is: unset, the next cycle knows it."""
    world = Scenario()
    engine = AttentiveEngine()
    engine.add(context(), sample(chain({"source": 1, "agg": 1})))
    set_options(world, **{"vertex.max-parallelism": "2"})
    book = world.cycle().outbox.book
    await book.read()
    observer = Observer(
        fetcher=engine,
        collector=engine,
        sink=world.log,
        events=world.events,
        time_limit=timedelta(seconds=5),
        applied=book.applied,
    )
    await observer.observe(at(0))
    assert engine.bounds == [2]
    assert observer.latest[ORDERS].ctx == context()


async def test_the_same_options_are_laid_out_once(world: Scenario) -> None:
    """Another object would be another job to whoever keeps something by its options."""
    set_options(world, **{"vertex.max-parallelism": "2"})
    book = world.cycle().outbox.book
    await book.read()
    ctx = context(options=options())
    assert book.applied(ctx).options is book.applied(ctx).options
    set_options(world)
    await book.read()
    assert book.applied(ctx) is ctx


async def test_jobs_with_the_same_options_share_what_is_laid_over_them(world: Scenario) -> None:
    """A fleet's options are laid out once, not once a job; nor again where they were read anew."""
    chosen = {"job.autoscaler.vertex.max-parallelism": "2"}
    world.store.change_orders(None, lambda _: Orders(options=chosen))
    book = world.cycle().outbox.book
    await book.read()
    one = book.applied(context(options=options())).options
    assert one.max_parallelism == 2
    assert book.applied(context(JobKey("prod", "other"), options=options())).options is one
    assert book.applied(context(options=options(enabled=False))).options is not one


class SlowStore(MemoryStateStore):
    """A store whose first answer takes long."""

    def __init__(self) -> None:
        """Answer nothing yet."""
        super().__init__()
        self.asked, self.may_answer = Flag(), Flag()

    def orders(self) -> StandingOrders:
        """Tell what was ordered when it was asked."""
        answer = super().orders()
        if not self.asked.is_set():
            self.asked.set()
            assert self.may_answer.wait(60)
        return answer


async def test_an_answer_from_before_a_pause_does_not_hide_it() -> None:
    """An agent's own pause is known at once, also where a cycle is just being told of the orders before it."""
    store = SlowStore()
    book = OrderBook(store=store)
    reading = asyncio.create_task(book.read())
    assert await asyncio.to_thread(store.asked.wait, 60)
    pausing = Thread(target=book.pause, args=(ORDERS, PAUSE))
    pausing.start()
    pausing.join(0.2)  # as far as it comes
    store.may_answer.set()
    await reading
    await asyncio.to_thread(pausing.join)
    assert book.is_paused(ORDERS)


async def test_a_cycle_tells_who_steers_workers_that_all_jobs_are_paused(world: Scenario) -> None:
    """From the store, for a cluster without a job has none that could say so."""
    steering = Steering(events=world.events)
    cycle = replace(world.cycle(), steering=steering)
    for by_hand in (pause, resume):
        by_hand(world, None)
        await cycle.run({}, at(0))
        assert steering.ledger.are_all_paused is (by_hand is pause)
