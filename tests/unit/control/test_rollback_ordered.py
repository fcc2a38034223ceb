"""A person orders the last rescale to be taken back: over a pause, once, and only if there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.control.test_rollback_killed import KilledError, MortalEngine, MortalEvents, MortalStore, Reaper
from tests.unit.control.ward import AGG, fall_ill, lie_down, options, state, told

from headgate.control.observation import Observation
from headgate.control.redeployment import Redeployment
from headgate.control.rollback.ordering import EXPIRY, Surroundings, taken_up
from headgate.errors import UnreachableError
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.orders import Given, Orders
from headgate.model.reasons import Reason
from headgate.model.redeploy import Launch, successor_of
from headgate.model.rollback import Side
from headgate.model.samples import EngineSettings
from headgate.model.state import JobState, ScalingRecord
from headgate.options.service import Mode
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.scenario import Scenario

DAY = 86_400.0


def order(world: Scenario, seconds: float) -> Given:
    """Order it."""
    given = Given(at=at(seconds), by="anna@host", why="latency is up")
    world.store.change_orders(ORDERS, lambda orders: replace(orders, rollback=given))
    return given


async def grown(world: Scenario) -> None:
    """Let the job be rescaled from 1 to 4, and need nothing more."""
    await world.tick(0)
    world.factors = {}
    await world.tick(30)


async def test_a_healthy_job_goes_back(world: Scenario) -> None:
    """The event has the order for its evidence; the order is struck, and the job is not grown again at once."""
    await grown(world)
    order(world, 40)
    decision = (await world.tick(60))["orders"]
    assert world.engine.requests == [{"agg": 4}, {"agg": 1}]
    assert decision.reason is Reason.ROLLED_BACK
    (message,) = told(world, EventReason.ROLLBACK)
    assert "takes back agg 1 -> 4" in message
    assert "ordered by anna@host at " in message
    assert world.store.orders().jobs == {}
    world.factors = {"agg": 4.0}
    await world.tick(90)
    assert len(world.engine.requests) == 2
    assert [(bound.parallelism, bound.side) for bound in state(world).bounds] == [(4, Side.BELOW)]


async def test_it_goes_over_a_pause(world: Scenario) -> None:
    """Also where it has to be asked for again, because the engine did not answer."""
    await grown(world)
    world.store.change_orders(ORDERS, lambda _: Orders(pause=Given(at=at(31), by="anna@host")))
    order(world, 40)
    world.engine.obeys = False
    await world.tick(60)
    world.engine.obeys = True
    for minute in range(2, 10):
        await world.tick(60 * minute)
    assert world.engine.requests[-1] == {"agg": 1}
    assert state(world).intent is None
    assert world.engine.jobs[ORDERS].topology.parallelism[AGG] == 1


async def test_a_rollback_that_waits_for_the_end_of_a_pause_is_hastened(ward: Scenario) -> None:
    """It had begun by itself and was not answered; whoever orders it now need not resume the job first."""
    await fall_ill(ward)
    ward.engine.realize_faults.append(UnreachableError("no answer"))
    await ward.tick(60)
    ward.store.change_orders(ORDERS, lambda _: Orders(pause=Given(at=at(61), by="anna@host")))
    await ward.tick(90)
    assert ward.engine.requests == [{"agg": 4}]
    order(ward, 100)
    await ward.tick(120)
    assert ward.engine.requests == [{"agg": 4}, {"agg": 1}]
    assert withheld(ward)[0].endswith("its last rescale is being taken back already")


async def test_a_rescale_that_has_proved_good_is_found_in_the_history(world: Scenario) -> None:
    """Long after its observation."""
    await grown(world)
    for hour in (1, 2):
        await world.tick(3_600 * hour)
    assert state(world).trial is None
    order(world, 7_200)
    await world.tick(7_230)
    assert world.engine.requests == [{"agg": 4}, {"agg": 1}]


async def test_the_pause_that_follows_ends_by_itself(world: Scenario) -> None:
    """Whoever ordered it is there to pause the job for longer."""
    await grown(world)
    order(world, 40)
    await world.tick(60)
    rollback = state(world).rollback
    assert rollback
    assert rollback.paused_until == at(60) + options().rejection_expiry


async def test_without_a_rescale_there_is_nothing_to_take_back(world: Scenario) -> None:
    """That is told once, and the order is struck."""
    world.factors = {}
    order(world, 0)
    await world.tick(30)
    await world.tick(60)
    (message,) = told(world, EventReason.ROLLBACK_WITHHELD)
    assert "as ordered by anna@host" in message
    assert message.endswith("no rescale of it is known")
    assert world.store.orders().jobs == {}


async def test_what_was_taken_back_is_not_taken_back_again(world: Scenario) -> None:
    """A second order does not bring the rescale back, soon or late."""
    await grown(world)
    for seconds in (40, 100, DAY):
        order(world, seconds)
        await world.tick(seconds + 20)
        await world.tick(seconds + 30)
    assert world.engine.requests == [{"agg": 4}, {"agg": 1}]
    assert all(message.endswith("its last rescale was taken back already") for message in withheld(world))
    assert len(withheld(world)) == 2


def withheld(world: Scenario) -> list[str]:
    """Give why orders were not carried out."""
    return told(world, EventReason.ROLLBACK_WITHHELD)


async def test_who_only_advises_takes_nothing_back(world: Scenario) -> None:
    """The order goes over a pause, not over the operator's file."""
    await grown(world)
    world.mode = Mode.ADVISE
    order(world, 40)
    await world.tick(60)
    assert world.engine.requests == [{"agg": 4}]
    assert "Headgate only advises here" in withheld(world)[0]


class UnwritableOrders(MemoryStateStore):
    """A store in which no order can be changed from a certain moment on."""

    is_unwritable = False

    def change_orders(self, job: JobKey | None, change: Callable[[Orders], Orders], /) -> Orders:
        """Change them, or do not answer."""
        if self.is_unwritable:
            message = "the state store did not answer"
            raise UnreachableError(message)
        return super().change_orders(job, change)


async def test_an_order_that_could_not_be_struck_is_not_taken_up_again() -> None:
    """It was answered: there was no rescale yet. The one that has come since then is not what was meant."""
    store = UnwritableOrders()
    world = Scenario(store=store)
    world.engine.add(context(), sample(chain({"source": 1, "agg": 1})))
    order(world, 0)
    store.is_unwritable = True
    await world.tick(10)
    world.factors = {"agg": 4.0}
    await world.tick(20)
    world.factors = {}
    await world.tick(30)
    assert world.engine.requests == [{"agg": 4}]
    assert len(withheld(world)) == 1

    store.is_unwritable = False
    await world.tick(40)
    assert world.engine.requests == [{"agg": 4}]
    assert store.orders().jobs == {}


async def test_an_order_given_meanwhile_is_not_struck_with_the_one_before(world: Scenario) -> None:
    """It is another one, and is taken up in the next cycle."""
    taken_up_now, later = order(world, 40), order(world, 50)
    book = world.cycle().outbox.book
    await book.strike(ORDERS, taken_up_now)
    assert world.store.orders().jobs == {ORDERS: Orders(rollback=later)}
    await book.strike(ORDERS, later)
    assert world.store.orders().jobs == {}


async def test_an_old_order_is_void(world: Scenario) -> None:
    """Nobody looked after the job when it was given: by now it may do harm."""
    await grown(world)
    order(world, 40)
    await world.tick(41 + EXPIRY.total_seconds())
    assert world.engine.requests == [{"agg": 4}]
    assert "nobody could within 15 min" in withheld(world)[0]


async def test_a_job_that_has_failed_for_good_is_told_of(world: Scenario) -> None:
    """Its last rescale had proved good: nobody looks after it, but for the order."""
    await grown(world)
    for hour in (1, 2):
        await world.tick(3_600 * hour)
    lie_down(world, JobStatus.FAILED)
    order(world, 7_210)
    await world.tick(7_230)
    assert "the job is FAILED" in withheld(world)[0]
    assert world.store.orders().jobs == {}
    assert world.engine.requests == [{"agg": 4}]


async def test_what_somebody_changed_since_is_left(world: Scenario) -> None:
    """The last rescale is not the last change any more."""
    await grown(world)
    for hour in (1, 2):
        await world.tick(3_600 * hour)
    world.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 6}))
    order(world, 7_200)
    await world.tick(7_230)
    assert withheld(world)[0].endswith("it runs at agg 6 of 4, not as its last rescale left it")


def test_a_redeploy_that_proved_good_is_taken_back_by_a_redeploy() -> None:
    """To the parallelism of then, with the configuration of now, under a job id of its own."""
    redeployment = Redeployment(applies=lambda _: True, launch_of=lambda _: Launch(jar="job.jar", parallelism=4))
    running = sample(chain({"source": 4, "agg": 4}), settings=EngineSettings(adaptive=False))
    record = ScalingRecord(
        decision_id="d1",
        at=at(0),
        before=chain({"source": 2, "agg": 2}).parallelism,
        after=running.topology.parallelism,
    )
    given = Given(at=at(60), by="anna@host")
    around = Surroundings(history=[record], redeployment=redeployment, may_act=True)
    known = taken_up(Observation(ctx=context(), sample=running), JobState(), given, at(60), around)
    assert known.intent
    assert known.intent.redeploy
    assert (known.intent.redeploy.after.parallelism, known.intent.redeploy.successor) == (2, successor_of("j1"))
    assert known.intent.ordered


async def lived_through(kill_at: int) -> tuple[Scenario, Reaper]:
    """Let a job grow and the growth be ordered back, and Headgate die at one point; later another process goes on."""
    reaper = Reaper()
    store = MortalStore()
    store.reaper = reaper
    engine, events = MortalEngine(reaper=reaper), MortalEvents(reaper=reaper)
    engine.add(context(), sample(chain({"source": 1, "agg": 1})))
    world = Scenario(engine=engine, store=store, events=events, factors={"agg": 2.0})
    await grown(world)
    order(world, 40)
    reaper.met, reaper.kill_at = 0, kill_at
    for tick in range(2, 8):
        world = Scenario(engine=engine, store=store, events=events)
        try:
            await world.tick(30 * tick)
        except KilledError:
            continue
    return world, reaper


POINTS = asyncio.run(lived_through(0))[1].met


@pytest.mark.parametrize("point", range(POINTS + 1))
async def test_a_kill_loses_no_order_and_repeats_none(point: int) -> None:
    """Whenever it comes: one way back, and the order is struck."""
    world, _ = await lived_through(point)
    assert world.engine.requests == [{"agg": 2}, {"agg": 1}]
    assert world.store.orders().jobs == {}
    assert len({event.key for event in world.events.told if event.reason is EventReason.ROLLBACK}) == 1
    assert state(world).intent is None
