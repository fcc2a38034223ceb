"""A redeploy that made its job sick is taken back by another one: from the sick job's own state, as it was well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headgate.control.deciding import Answer, PlainDecider
from headgate.model.events import EventReason
from headgate.model.measures import JobStatus
from headgate.model.redeploy import Overlay, successor_of
from headgate.model.rollback import Evidence
from headgate.ports import JobContext
from headgate.testing.fake_redeploys import RedeployableFlink
from headgate.testing.redeploying import RedeployingService

OLD = f"{1:032x}"
SICK = successor_of(OLD)
WELL = successor_of(SICK)
LIMIT = timedelta(seconds=10)


@dataclass(frozen=True)
class Doctor(PlainDecider):
    """Condemns whatever runs with too many subtasks, and what has failed."""

    too_many: int = 3

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Say so."""
        if ctx.aftermath is None:
            return None
        if self.too_many not in ctx.aftermath.running.values() and ctx.status is not JobStatus.FAILED:
            return None
        return Evidence(checker="memory-pressure", found="three are too many")


async def test_a_sick_successor_is_replaced_by_how_the_job_was_well(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Parallelism and configuration go back together; what is remembered is of the job that runs now."""
    watchful = RedeployingService(
        headgate.url, headgate.launch, clock=headgate.clock, interval=headgate.interval, decider=Doctor()
    )
    async with watchful:
        await watchful.order("orders", {"stage-1": 3}, {"a": "b"})
        await watchful.until(lambda: flink.alive == [WELL] and watchful.state("orders").intent is None, LIMIT)

    assert list(flink.started) == [SICK, WELL]
    assert flink.started[SICK].body["flinkConfiguration"] == {"a": "b"}
    assert "flinkConfiguration" not in flink.started[WELL].body
    assert flink.started[WELL].body["parallelism"] == 1
    state = watchful.state("orders")
    assert (state.job_wide, state.overlay) == (1, Overlay())
    assert {bound.parallelism for bound in state.bounds} == {3}
    assert state.rollback
    assert (state.rollback.run.job_id, state.rollback.job_id) == (SICK, WELL)
    assert watchful.events.reasons.count(EventReason.ROLLBACK) == 1


async def test_a_job_that_has_given_up_since_its_rescale_is_started_again(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Its restart strategy allowed a few failures, so nothing of it is alive any more: it goes back all the same."""
    async with replace(headgate, decider=Doctor(too_many=99)) as watchful:
        await watchful.order("orders", {"stage-1": 3})
        await watchful.until(lambda: EventReason.RESCALE_REACHED in watchful.events.reasons, LIMIT)
        flink.completed[SICK], flink.keeps_checkpoints = 7, True
        flink.jobs[SICK].state = "FAILED"
        await watchful.until(lambda: flink.alive == [WELL] and watchful.state("orders").intent is None, LIMIT)

    assert flink.started[WELL].body["savepointPath"] == "file:/checkpoints/chk-7"
