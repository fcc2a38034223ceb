"""A wish that the engine never granted is not to blame for its job; one that it granted in part may be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tests.unit.control.ward import lie_down, state

from headgate.control.deciding import Answer, PlainDecider
from headgate.model.rollback import Evidence
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, at, chain, sample
from headgate.testing.scenario import Scenario


@dataclass(frozen=True)
class Impatient(PlainDecider):
    """Condemns a rescale that nobody waits for any more."""

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Say so."""
        if ctx.aftermath is None or not ctx.aftermath.given_up:
            return None
        return Evidence(checker="restart-loop", found="it fails")


async def wait_in_vain(ward: Scenario, until: int, *, at_three: range = range(0)) -> None:
    """Let 4 subtasks be wanted and not be had; at some seconds the job has 3 of them."""
    ward.engine.obeys = False
    await ward.tick(0)
    ward.factors = {}
    for seconds in range(30, until, 30):
        ward.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 3 if seconds in at_three else 1}))
        await ward.tick(seconds)


async def test_a_wish_of_which_a_part_was_granted_may_be_what_made_the_job_sick(ward: Scenario) -> None:
    """It was given up at three of four, and the job does not run as before: the same is not tried again and again."""
    ward.decider = Impatient()
    await wait_in_vain(ward, 1_200, at_three=range(1_200))

    rollback = state(ward).rollback
    assert rollback
    assert rollback.paused_until is None
    assert [bound.parallelism for bound in state(ward).bounds] == [4]


async def test_a_wish_that_was_not_granted_in_time_is_not_blamed_for_an_outage(ward: Scenario) -> None:
    """The job ran as before all the time until it went down: no bound, and no pause until the cluster's restart."""
    await wait_in_vain(ward, 600)
    lie_down(ward)
    await ward.tick(600)

    rollback = state(ward).rollback
    assert rollback
    assert rollback.paused_until == at(600) + AutoscalerOptions().rejection_expiry
    assert state(ward).bounds == ()


async def test_a_wish_that_may_still_be_granted_is_blamed(ward: Scenario) -> None:
    """Slots often come a little late, and the job fails at once with them: it was never seen to run so."""
    await wait_in_vain(ward, 120)
    lie_down(ward)
    await ward.tick(120)

    assert [bound.parallelism for bound in state(ward).bounds] == [4]


async def test_a_job_that_is_back_at_what_it_had_was_made_sick_all_the_same(ward: Scenario) -> None:
    """It was seen to run with more subtasks, and lost its workers before it went down."""
    await wait_in_vain(ward, 600, at_three=range(60, 61))
    lie_down(ward)
    await ward.tick(600)

    assert [bound.parallelism for bound in state(ward).bounds] == [4]
