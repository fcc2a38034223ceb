"""What is left alone: jobs that are not Headgate's to change (any more), and those that somebody else has touched."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headgate.model.events import EventReason
from headgate.model.redeploy import successor_of, way_back_of
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import Mode
from headgate.testing.fake_job import chain
from headgate.testing.fake_redeploys import RedeployableFlink
from headgate.testing.redeploying import RedeployingService

OLD = f"{1:032x}"
NEW = successor_of(OLD)
BACK = [way_back_of(OLD, number) for number in range(20)]
LIMIT = timedelta(seconds=10)
WANTED = {"stage-1": 3}
CONFIG = {"execution.checkpointing.interval": "7 s"}


async def reached(headgate: RedeployingService) -> None:
    """Go on until the change is seen to hold."""
    await headgate.until(lambda: EventReason.RESCALE_REACHED in headgate.events.reasons, LIMIT)


async def refusal(headgate: RedeployingService) -> str:
    """Go on until the change is given up; returns what is remembered of it."""
    await headgate.until(lambda: bool(headgate.state("orders").rejections), LIMIT)
    assert headgate.state("orders").intent is None
    return headgate.state("orders").rejections[0].why


async def test_what_has_begun_is_finished_by_one_that_may_not_act(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """A job that Headgate has stopped is not left down because somebody has switched Headgate to advice since."""
    async with replace(headgate, dies_before="/run") as dying:
        await dying.order("orders", WANTED)
        await dying.until(lambda: not flink.alive, LIMIT)
    headgate._cycle = replace(headgate._cycle, mode=Mode.ADVISE)
    await reached(headgate)
    assert flink.alive == [NEW]


async def test_what_has_not_begun_is_not_begun_by_one_that_may_not_act(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Saved, and killed before anything was asked for; then scaling was switched off."""
    async with replace(headgate, dies_before="/stop") as dying:
        await dying.order("orders", WANTED)
        await dying.until(lambda: bool(flink.asked("/plan", "POST")), LIMIT)
    async with replace(headgate, options=AutoscalerOptions(scaling_enabled=False)) as other:
        assert "had not begun" in await refusal(other)
    assert flink.alive == [OLD]
    assert not flink.asked("/stop", "POST")


async def test_a_job_that_somebody_else_ended_stays_ended(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """No savepoint of this change: it was not Headgate that stopped it."""
    flink.savepoint_takes = True
    await headgate.order("orders", WANTED)
    await headgate.until(lambda: bool(flink.asked("/stop", "POST")), LIMIT)
    flink.jobs[OLD].state = "CANCELED"
    assert "did not end by it" in await refusal(headgate)
    assert not flink.started


async def test_a_job_of_the_same_name_that_somebody_else_started_is_left_alone(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """There would be two of them."""
    async with replace(headgate, dies_before="/run") as dying:
        await dying.order("orders", WANTED)
        await dying.until(lambda: not flink.alive, LIMIT)
    other = chain(job_id=f"{2:032x}", name="orders", vertices=2)
    flink.add(other)
    await headgate.until(lambda: headgate.state("orders").intent is None, LIMIT)
    assert flink.alive == [other.job_id]
    assert not flink.started


async def test_jobs_of_one_name_are_not_redeployed(flink: RedeployableFlink, headgate: RedeployingService) -> None:
    """Which of them has the name follows from which is the oldest: the new one would be taken for another."""
    flink.advance(1)
    flink.add(chain(job_id=f"{2:032x}", name="orders", vertices=2))
    await headgate.order("orders", WANTED)
    assert "several jobs are called 'orders'" in await refusal(headgate)
    assert not flink.asked("/stop", "POST")
