"""Jobs are replaced, whatever goes wrong on the way: one of old and new runs, and the text says which and why."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.model.events import EventReason
from headgate.model.redeploy import successor_of, ways_back_of
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import Mode
from headgate.testing.fake_job import chain
from headgate.testing.fake_redeploys import RedeployableFlink
from headgate.testing.redeploying import RedeployingService

OLD = f"{1:032x}"
NEW = successor_of(OLD)
BACK = ways_back_of(OLD)
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


async def test_a_job_is_replaced_from_its_savepoint(flink: RedeployableFlink, headgate: RedeployingService) -> None:
    """The new one has the parallelism, the launch spec's program and configuration, and a job id known beforehand."""
    decision = await headgate.order("orders", WANTED, CONFIG)
    assert "not answered" not in decision.message
    await reached(headgate)
    assert flink.alive == [NEW]
    assert flink.started[NEW].body == {
        "jobId": NEW,
        "entryClass": "Main",
        "programArgsList": ["--fast"],
        "parallelism": 3,
        "flinkConfiguration": CONFIG,
        "savepointPath": f"file:/savepoints/{OLD[:6]}",
        "allowNonRestoredState": False,
    }
    state = headgate.state("orders")
    assert (state.job_wide, dict(state.overlay.overrides)) == (3, CONFIG)
    assert [record.after for record in state.history] == [{vertex.id: 3 for vertex in flink.jobs[NEW].vertices}]


async def test_nothing_is_stopped_without_a_launch_spec(flink: RedeployableFlink, headgate: RedeployingService) -> None:
    """The refusal names what is missing, and where it could be written."""
    headgate.launch = None
    await headgate.order("orders", WANTED)
    why = await refusal(headgate)
    assert "no launch spec" in why
    assert "launch.jar" in why
    assert "headgate submit" in why
    assert not flink.asked("/stop", "POST")


async def test_nothing_is_stopped_for_a_program_that_builds_another_job(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Flink is asked for the program's plan beforehand."""
    flink._program = chain(job_id="ab" * 16, name="orders", vertices=2)
    await headgate.order("orders", WANTED)
    assert "builds another job" in await refusal(headgate)
    assert not flink.asked("/stop", "POST")


async def test_nothing_is_stopped_for_a_jar_that_is_nowhere(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Neither here nor there."""
    assert headgate.launch
    headgate.launch = replace(headgate.launch, jar="other.jar")
    await headgate.order("orders", WANTED)
    assert "no jar 'other.jar'" in await refusal(headgate)
    assert flink.alive == [OLD]


async def test_a_failed_savepoint_leaves_the_job_running(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """The reason is Flink's innermost, and the rescale never becomes part of the history."""
    flink.savepoint_failure = "disk full"
    await headgate.order("orders", WANTED)
    assert await refusal(headgate) == "the savepoint failed, and the job goes on: disk full"
    assert flink.alive == [OLD]
    assert not headgate.state("orders").history


async def test_a_failed_start_goes_back(flink: RedeployableFlink, headgate: RedeployingService) -> None:
    """As it was: parallelism and configuration, from the savepoint that ended it."""
    flink.start_failures = ["no such backend"]
    await headgate.order("orders", WANTED, CONFIG)
    assert (await refusal(headgate)).endswith("taken back to how it ran before: no such backend")
    assert flink.alive == [BACK[0]]
    body = flink.started[BACK[0]].body
    assert (body["parallelism"], body["savepointPath"]) == (1, f"file:/savepoints/{OLD[:6]}")
    assert "flinkConfiguration" not in body
    assert not headgate.state("orders").overlay


async def test_a_job_that_starts_no_more_is_told_with_its_savepoint(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Each attempt has a job id of its own, as a failed start spends one."""
    flink.start_failures = ["first", "second", "third", "fourth"]
    await headgate.order("orders", WANTED)
    why = await refusal(headgate)
    assert "THE JOB IS DOWN" in why
    assert f"file:/savepoints/{OLD[:6]}" in why
    assert list(flink.started) == [NEW, *BACK]
    assert not flink.alive


async def test_a_start_without_slots_is_cancelled_in_time(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Then the job goes back: only one of them ever has tasks."""
    flink.starting = True
    await headgate.order("orders", WANTED)
    await headgate.until(lambda: flink.alive == [NEW], LIMIT)
    await headgate.going_on(timedelta(milliseconds=200))
    assert flink.alive == [NEW]
    flink.advance(61)
    await headgate.until(lambda: flink.alive == [BACK[0]], LIMIT)
    flink.ready()
    assert "did not all run within 0:01:00" in await refusal(headgate)


async def test_a_slow_savepoint_is_waited_for_however_long_it_takes(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """It cannot be taken back: whenever it is ready the job ends, and somebody must start the next one."""
    flink.savepoint_takes = True
    await headgate.order("orders", WANTED)
    flink.advance(7200)
    await headgate.going_on(timedelta(milliseconds=200))
    assert headgate.state("orders").intent
    assert flink.alive == [OLD]
    flink.savepoint_takes = False
    await reached(headgate)
    assert flink.alive == [NEW]


async def test_another_process_goes_on_after_the_stop(flink: RedeployableFlink, headgate: RedeployingService) -> None:
    """Also when Flink has forgotten who asked for the savepoint: the ended job still lists it."""
    async with replace(headgate, dies_before="/run") as dying:
        await dying.order("orders", WANTED)
        await dying.until(lambda: not flink.alive, LIMIT)
    flink.forgets_triggers = True
    (decision,) = (await headgate.tick()).values()
    assert decision.reason == "RescaleInFlight"
    await reached(headgate)
    assert flink.alive == [NEW]
    assert flink.started[NEW].body["savepointPath"] == f"file:/savepoints/{OLD[:6]}"


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


async def test_a_secret_that_a_failing_program_quotes_is_not_told(
    flink: RedeployableFlink, headgate: RedeployingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was sent in place of its reference, and comes back in Flink's answer."""
    assert headgate.launch
    monkeypatch.setenv("REDEPLOY_PASSWORD", "hunter2hunter2")
    headgate.launch = replace(headgate.launch, args=("--password=${env:REDEPLOY_PASSWORD}",))
    flink.start_failures = ["unknown argument --password=hunter2hunter2"]
    await headgate.order("orders", WANTED)
    assert (await refusal(headgate)).endswith("unknown argument --password=***")
    assert flink.started[NEW].body["programArgsList"] == ["--password=hunter2hunter2"]


async def test_the_adaptive_scheduler_is_told_the_parallelism_of_each_vertex(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """The job is submitted with the largest of them, which no vertex keeps that wants another."""
    flink.config["jobmanager.scheduler"] = "adaptive"
    flink.jobs[OLD].scheduler = flink._program.scheduler = "Adaptive"
    await headgate.order("orders", WANTED, CONFIG)
    await reached(headgate)
    assert flink.started[NEW].body["parallelism"] == 3
    assert [vertex.parallelism for vertex in flink.jobs[NEW].vertices] == [1, 3]
