"""A scale-down after which a job falls behind with the load of before is taken back, as any rescale that harms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from tests.unit.control.ward import state, told

from headgate.control.deciding import Answer, PlainDecider
from headgate.model.events import EventReason
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.model.rollback import Evidence, Side
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.rollback import RollbackOptions
from headgate.plugins.checkers import FallsBehind
from headgate.ports import JobContext, Unrecoverable
from headgate.testing.builders import ORDERS, chain, context, evaluated, sample
from headgate.testing.fakes import FakeEvaluator
from headgate.testing.scenario import Scenario

OPTIONS = AutoscalerOptions(
    scale_down_interval=timedelta(),
    stabilization_interval=timedelta(seconds=10),
    catch_up_duration=timedelta(minutes=1),
    rollback=RollbackOptions(pause=timedelta(minutes=5)),
)


@dataclass(frozen=True)
class Watchful(PlainDecider):
    """Asks the one checker."""

    async def examine(self, ctx: JobContext, answer: Answer, _now: datetime) -> Evidence | None:
        """Give what it says."""
        said = FallsBehind().check(ctx, answer if isinstance(answer, EvaluatedMetrics) else None)
        if not isinstance(said, Unrecoverable):
            return None
        return Evidence(checker="falls-behind", found=said.evidence)


@pytest.fixture
def shrunk() -> Scenario:
    """One job, source -> agg, whose agg is thought to need half of its four subtasks for 140 records/s."""
    world = Scenario(factors={"agg": 0.5}, decider=Watchful())
    world.engine.add(context(options=OPTIONS), sample(chain({"source": 1, "agg": 4}), job=ORDERS))
    return world


async def shrink(world: Scenario, then: float) -> None:
    """Let it shrink, and then have a backlog, with so many times the load that two subtasks were taken to be for."""
    await world.tick(0)
    world.factors = {}
    await world.tick(30)
    world.factors = {"agg": then}
    world.evaluator = FakeEvaluator(lambda one: replace(evaluated(one.sample.topology, world.factors), backlog=True))


async def test_a_scale_down_that_was_too_much_is_taken_back(shrunk: Scenario) -> None:
    """Its numbers say that two suffice, and it does not keep up: it gets its four again, and a bound half way."""
    await shrink(shrunk, 1.0)

    decision = (await shrunk.tick(101))["orders"]

    assert shrunk.engine.requests == [{"agg": 2}, {"agg": 4}]
    assert decision.reason is Reason.ROLLED_BACK
    (message,) = told(shrunk, EventReason.ROLLBACK)
    assert "behind 71 s after a scale-down that its load does not explain: 140 records/s arrive, 140 before" in message
    (bound,) = state(shrunk).bounds
    assert (bound.side, bound.limit) == (Side.ABOVE, 3)


async def test_it_has_time_to_work_off_what_the_change_left(shrunk: Scenario) -> None:
    """A minute for the backlog, after the stabilization."""
    await shrink(shrunk, 1.0)

    decision = (await shrunk.tick(99))["orders"]

    assert shrunk.engine.requests == [{"agg": 2}]
    assert decision.reason is not Reason.ROLLED_BACK


async def test_a_job_with_more_load_grows_as_usual(shrunk: Scenario) -> None:
    """Nothing was wrong with the scale-down: no bound, and no pause that would keep it from growing further."""
    await shrink(shrunk, 4.0)

    await shrunk.tick(101)

    assert shrunk.engine.requests == [{"agg": 2}, {"agg": 8}]
    assert not told(shrunk, EventReason.ROLLBACK)
    assert not state(shrunk).bounds
