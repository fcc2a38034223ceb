"""A redeploy after which the job fails over for ever is taken back without a savepoint, and nothing is undone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
import structlog

from headgate.control.deciding import Answer, PlainDecider
from headgate.model.events import EventReason
from headgate.model.measures import JobStatus
from headgate.model.redeploy import successor_of
from headgate.model.rollback import Evidence
from headgate.options.service import Mode
from headgate.ports import JobContext
from headgate.testing.fake_redeploys import RedeployableFlink
from headgate.testing.redeploying import RedeployingService

OLD = f"{1:032x}"
SICK = successor_of(OLD)
WELL = successor_of(SICK)
LIMIT = timedelta(seconds=10)
FIRST_SAVEPOINT = f"file:/savepoints/{OLD[:6]}"


@dataclass(frozen=True)
class Doctor(PlainDecider):
    """Condemns a job that restarts, or of which it is told that it is sick."""

    patient: str = ""

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Say so."""
        restarts = ctx.aftermath is not None and ctx.aftermath.status is not JobStatus.RUNNING
        if not restarts and ctx.job_id != self.patient:
            return None
        return Evidence(checker="restart-loop", found="it fails")


@pytest.fixture
async def watchful(flink: RedeployableFlink, headgate: RedeployingService) -> AsyncIterator[RedeployingService]:
    """Bring the job to a parallelism of 3, by a redeploy, and watch over it."""
    async with replace(headgate, decider=Doctor()) as service:
        await service.order("orders", {"stage-1": 3})
        await service.until(lambda: EventReason.RESCALE_REACHED in service.events.reasons, LIMIT)
        assert flink.alive == [SICK]
        yield service


async def taken_back(flink: RedeployableFlink, headgate: RedeployingService) -> str:
    """Go on until the job runs as it was; returns from what it was started."""
    await headgate.until(lambda: flink.alive == [WELL] and headgate.state("orders").intent is None, LIMIT)
    assert {vertex.parallelism for vertex in flink.jobs[WELL].vertices} == {1}
    return str(flink.started[WELL].body["savepointPath"])


async def refusal(headgate: RedeployingService) -> str:
    """Go on until the rollback is given up; returns why."""
    await headgate.until(lambda: EventReason.RESCALE_NOT_REACHED in headgate.events.reasons, LIMIT)
    assert headgate.state("orders").intent is None
    return headgate.events.told[-1].message


async def test_a_rollback_waits_while_nothing_may_be_changed(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """Also after a restart of Headgate, of a job that cannot be asked whether it may be scaled: it is not given up."""
    flink.completed[SICK], flink.keeps_checkpoints = 7, True
    flink.jobs[SICK].state = "RESTARTING"
    async with replace(watchful, dies_before="/plan") as dying:
        await dying.until(lambda: dying.state("orders").intent is not None, LIMIT)
    watchful._cycle = replace(watchful._cycle, mode=Mode.ADVISE)
    await watchful.until(lambda: "its rollback waits" in watchful.events.told[-1].message, LIMIT)
    assert flink.alive == [SICK]
    assert EventReason.RESCALE_NOT_REACHED not in watchful.events.reasons

    watchful._cycle = replace(watchful._cycle, mode=Mode.ACT)
    assert await taken_back(flink, watchful) == "file:/checkpoints/chk-7"


async def test_it_goes_on_from_its_last_checkpoint(flink: RedeployableFlink, watchful: RedeployingService) -> None:
    """That it is asked for no savepoint is no loss: Flink itself would go on from there. The log names it."""
    flink.completed[SICK], flink.keeps_checkpoints = 7, True
    flink.jobs[SICK].state = "RESTARTING"
    with structlog.testing.capture_logs() as logged:
        assert await taken_back(flink, watchful) == "file:/checkpoints/chk-7"
    assert flink.jobs[SICK].state == "CANCELED"
    assert flink.asked("/stop", "POST") == 1
    (line,) = (line for line in logged if line["event"] == "sick job cancelled")
    assert line["goes_on_from"] == "its last checkpoint file:/checkpoints/chk-7"


async def test_it_goes_on_from_where_it_began_when_it_completed_nothing(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """The savepoint that it was started from; what becomes of checkpoints does not matter then."""
    flink.jobs[SICK].state = "RESTARTING"
    assert await taken_back(flink, watchful) == FIRST_SAVEPOINT


async def test_a_job_whose_checkpoints_would_be_deleted_is_left_alone(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """Going back further would undo what it has done; the hint names the option."""
    flink.completed[SICK] = 7
    flink.jobs[SICK].state = "RESTARTING"
    assert "externalized-checkpoint-retention" in await refusal(watchful)
    assert flink.alive == [SICK]


async def test_it_is_not_cancelled_while_it_tells_nothing(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """Between two attempts to run Flink shows a job without a past: that is no proof that it has none."""
    flink.tells_checkpoints = False
    flink.jobs[SICK].state = "CREATED"
    await watchful.going_on(timedelta(seconds=0.3))
    assert flink.alive == [SICK]
    flink.tells_checkpoints = True
    assert await taken_back(flink, watchful) == FIRST_SAVEPOINT


async def test_a_sick_job_that_runs_is_stopped_with_a_savepoint(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """As any other: a job that only suffers can say where it is."""
    flink.completed[SICK], flink.keeps_checkpoints = 7, True
    async with replace(watchful, decider=Doctor(patient=SICK)) as other:
        assert await taken_back(flink, other) == f"file:/savepoints/{SICK[:6]}"
    assert flink.jobs[SICK].state == "FINISHED"


async def test_a_savepoint_in_vain_gives_way_to_the_last_checkpoint(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """It ran when it was asked for one, and failed before that was written."""
    flink.completed[SICK], flink.keeps_checkpoints, flink.savepoint_failure = 7, True, "not all tasks run"
    async with replace(watchful, decider=Doctor(patient=SICK)) as other:
        assert await taken_back(flink, other) == "file:/checkpoints/chk-7"


async def test_a_savepoint_that_never_comes_gives_way_to_the_last_checkpoint(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """After the launch spec's limit for savepoints."""
    flink.completed[SICK], flink.keeps_checkpoints, flink.savepoint_takes = 7, True, True
    async with replace(watchful, decider=Doctor(patient=SICK)) as other:
        await other.until(lambda: flink.asked("/stop", "POST") == 2, LIMIT)
        await other.going_on(timedelta(seconds=0.2))
        assert flink.alive == [SICK]
        assert other.launch
        flink.advance(other.launch.savepoint_limit.total_seconds())
        assert await taken_back(flink, other) == "file:/checkpoints/chk-7"


async def test_headgate_that_dies_between_cancelling_and_starting_goes_on(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """The cancelled job still tells from what it can go on."""
    flink.completed[SICK], flink.keeps_checkpoints = 7, True
    flink.jobs[SICK].state = "RESTARTING"
    async with replace(watchful, dies_before="/run") as dying:
        await dying.until(lambda: not flink.alive, LIMIT)
    async with replace(watchful) as other:
        assert await taken_back(flink, other) == "file:/checkpoints/chk-7"
    assert set(flink.started) == {SICK, WELL}


async def test_a_sick_job_that_somebody_else_cancels_stays_cancelled(
    flink: RedeployableFlink, watchful: RedeployingService
) -> None:
    """While its savepoint is being written, say."""
    flink.savepoint_takes = True
    async with replace(watchful, decider=Doctor(patient=SICK)) as other:
        await other.until(lambda: flink.asked("/stop", "POST") == 2, LIMIT)
        await other.going_on(timedelta(seconds=0.2))
        flink.end(SICK, "CANCELED")
        assert "cancelled by somebody else" in await refusal(other)
    assert not flink.alive
