"""Looking at a few jobs once more before their turn."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.control.streaming import FAST, RETURNS, StreamingEngine

from headgate.errors import NotFoundError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, at, context
from headgate.testing.scenario import Scenario


@pytest.fixture
def engine() -> StreamingEngine:
    """Let two jobs run."""
    engine = StreamingEngine()
    engine.run(ORDERS)
    engine.run(RETURNS)
    return engine


@pytest.fixture
async def world(engine: StreamingEngine) -> Scenario:
    """Have looked at both once."""
    world = Scenario(engine=engine)
    await world.observer.observe(at(0))
    return world


def seen_at(world: Scenario, job: JobKey) -> float:
    """Give the second of a job's latest sample."""
    sample = world.observer.latest[job].sample
    assert sample
    return (sample.at - at(0)).total_seconds()


async def test_only_those_are_looked_at_that_are_asked_for(world: Scenario) -> None:
    """Their sample is kept and known, the other job's stays the one it was."""
    await world.observer.observe_again([ORDERS], at(1))

    assert [(kept.job, kept.at) for kept in world.log.samples[2:]] == [(ORDERS, at(1))]
    assert (seen_at(world, ORDERS), seen_at(world, RETURNS)) == (1, 0)


async def test_a_job_that_nobody_knows_is_not_looked_for(world: Scenario, engine: StreamingEngine) -> None:
    """It is another cluster's, or comes with the next list of jobs."""
    engine.run(JobKey("prod", "new"))

    await world.observer.observe_again([JobKey("prod", "new"), JobKey("lab", "orders")], at(1))

    assert world.observer.latest.keys() == {ORDERS, RETURNS}
    assert len(world.log.samples) == 2


async def test_a_job_that_is_gone_is_left_to_its_turn(world: Scenario, engine: StreamingEngine) -> None:
    """Then it is told of: once, and with all that belongs to it."""
    engine.faults[ORDERS] = NotFoundError("gone")
    told = len(world.events.told)

    await world.observer.observe_again([ORDERS, RETURNS], at(1))

    assert (seen_at(world, ORDERS), seen_at(world, RETURNS)) == (0, 1)
    assert len(world.events.told) == told


async def test_a_job_that_does_not_answer_is_marked(world: Scenario, engine: StreamingEngine) -> None:
    """Its latest sample stays beside the reason why there is no newer one, and is not kept twice."""
    engine.faults[ORDERS] = UnreachableError("500")

    await world.observer.observe_again([ORDERS], at(1))

    problem = world.observer.latest[ORDERS].problem
    assert problem is not None
    assert problem.reason is Reason.JOB_UNREACHABLE
    assert seen_at(world, ORDERS) == 0
    assert len(world.log.samples) == 2


async def test_a_job_is_looked_at_as_it_was_listed_last(world: Scenario, engine: StreamingEngine) -> None:
    """That it restarts now is seen at its turn: nobody lists jobs in between."""
    engine.contexts[ORDERS] = context(status=JobStatus.RESTARTING, options=FAST)

    await world.observer.observe_again([ORDERS], at(1))

    assert world.observer.latest[ORDERS].ctx.status is JobStatus.RUNNING


async def test_nothing_is_looked_at_while_a_turn_is_under_way() -> None:
    """It will see the job by itself; asked again meanwhile, the engine would be asked twice."""
    asked, may_answer = asyncio.Event(), asyncio.Event()

    class Slow(StreamingEngine):
        async def update_metrics(self, ctx: JobContext, tick: object, /) -> JobSample:
            asked.set()
            await may_answer.wait()
            return await super().update_metrics(ctx, tick)  # type: ignore[arg-type]

    engine = Slow()
    engine.run()
    world = Scenario(engine=engine)

    async with asyncio.timeout(30):
        turn = asyncio.create_task(world.observer.observe(at(0)))
        await asked.wait()
        await world.observer.observe_again([ORDERS], at(1))
        may_answer.set()
        await turn

    assert engine.asked == [(ORDERS, at(0))]
