"""Jobs are replaced, whatever goes wrong on the way: one of old and new runs, and the text says which and why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from headgate.model.events import EventReason
from headgate.model.redeploy import successor_of, way_back_of
from headgate.options.service import Mode
from headgate.testing.fake_job import chain
from headgate.testing.fake_redeploys import RedeployableFlink
from headgate.testing.fakes import RecordingEvents
from headgate.testing.faults import Fault
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


async def until_quietly(condition: Callable[[], bool]) -> None:
    """Wait without a tick: what is under way goes on by itself."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(condition)


def told(headgate: RedeployingService) -> str:
    """Return all that was told."""
    return "\n".join(event.message for event in headgate.events.told)


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


async def test_a_job_that_starts_no_more_is_told_with_its_savepoint_and_tried_again(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Each attempt has a job id of its own, as a failed start spends one; the pauses grow, and nothing is given up."""
    flink.start_failures = ["no storage"] * 8
    await headgate.order("orders", WANTED)
    await headgate.until(lambda: "THE JOB IS DOWN" in told(headgate), LIMIT)
    await headgate.going_on(timedelta(milliseconds=200))
    assert f"file:/savepoints/{OLD[:6]}" in told(headgate)
    assert list(flink.started) == [NEW, BACK[0]]
    for number, pause in enumerate((5, 15, 45, 135, 300, 300), 1):
        flink.advance(pause - 1)
        await headgate.going_on(timedelta(milliseconds=150))
        assert BACK[number] not in flink.started
        flink.advance(1)
        await headgate.until(partial(flink.started.__contains__, BACK[number]), LIMIT)
    assert headgate.state("orders").intent
    flink.advance(300)
    assert (await refusal(headgate)).endswith("taken back to how it ran before: no storage")
    assert flink.alive == [BACK[7]]


async def test_pauses_are_those_that_the_cluster_shows(flink: RedeployableFlink, headgate: RedeployingService) -> None:
    """Another process that takes over does not begin anew with quick attempts."""
    flink.start_failures = ["no storage"] * 4
    async with replace(headgate, events=RecordingEvents()) as dying:
        await dying.order("orders", WANTED)
        await dying.until(lambda: BACK[0] in flink.started, LIMIT)
        for number, pause in enumerate((5, 15), 1):
            flink.advance(pause)
            await dying.until(partial(flink.started.__contains__, BACK[number]), LIMIT)
    await headgate.until(lambda: "THE JOB IS DOWN" in told(headgate), LIMIT)
    assert BACK[3] not in flink.started
    flink.advance(45)
    await refusal(headgate)
    assert flink.alive == [BACK[3]]


async def test_a_start_that_is_not_answered_is_no_refusal(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Flink may be at it still: the same id is asked for again, however often, and nothing else is started."""
    flink.unanswered_starts = 5
    await headgate.order("orders", WANTED)
    for pause in (5, 15, 45, 135):
        asked = flink.asked("/run", "POST")
        await headgate.going_on(timedelta(milliseconds=150))
        assert flink.asked("/run", "POST") <= asked + 1
        flink.advance(pause)
    await headgate.until(lambda: flink.unanswered_starts == 0, LIMIT)
    assert not flink.alive
    flink.finish_starts()
    await reached(headgate)
    assert flink.alive == [NEW]
    assert not flink.started


@pytest.mark.parametrize("first", ["way back", "successor"])
async def test_only_one_goes_on_when_a_start_comes_about_late(
    flink: RedeployableFlink, headgate: RedeployingService, first: str
) -> None:
    """The successor's program is through after the way back was begun: what does not run yet is cancelled."""
    flink.unanswered_starts = 1
    await headgate.order("orders", WANTED)
    await headgate.until(lambda: flink.unanswered_starts == 0, LIMIT)
    flink.plant(Fault(path="*/run", status=400, times=1))
    flink.starting = True
    flink.advance(5)
    await headgate.until(lambda: flink.alive == [BACK[0]], LIMIT)
    flink.starting = first == "way back"
    flink.advance(1)
    flink.finish_starts()
    assert flink.alive == [BACK[0], NEW]
    await until_quietly(lambda: len(flink.alive) == 1)
    flink.ready()
    if first == "way back":
        assert "taken back" in await refusal(headgate)
        assert flink.alive == [BACK[0]]
    else:
        await reached(headgate)
        assert flink.alive == [NEW]


@pytest.mark.parametrize(
    ("state", "why"), [("FAILED", "not taken back to before that"), ("CANCELED", "cancelled by somebody else")]
)
async def test_what_ran_and_ended_later_is_not_undone(
    flink: RedeployableFlink, headgate: RedeployingService, state: str, why: str
) -> None:
    """The successor came up and worked for hours while no Headgate was there: its work is not thrown away."""
    flink.starting = True
    async with replace(headgate, events=RecordingEvents()) as dying:
        await dying.order("orders", WANTED)
        await dying.until(lambda: flink.alive == [NEW], LIMIT)
    flink.ready()
    flink.completed[NEW] = 200
    flink.advance(7200)
    flink.end(NEW, state)
    assert why in await refusal(headgate)
    assert list(flink.started) == [NEW]


async def test_another_process_knows_a_start_that_headgate_cancelled(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """It ended right at its limit, and never ran: the job goes back."""
    flink.starting = True
    async with replace(headgate, events=RecordingEvents()) as dying:
        await dying.order("orders", WANTED)
        await dying.until(lambda: flink.alive == [NEW], LIMIT)
    flink.advance(62)
    flink.end(NEW, "CANCELED")
    flink.starting = False
    assert "did not all run within" in await refusal(headgate)
    assert flink.alive == [BACK[0]]


async def test_a_job_that_somebody_else_starts_while_it_is_down_is_left_alone(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """Nothing is tried any more beside it."""
    flink.start_failures = ["first", "second"]
    await headgate.order("orders", WANTED)
    await headgate.until(lambda: "THE JOB IS DOWN" in told(headgate), LIMIT)
    other = chain(job_id=f"{2:032x}", name="orders", vertices=2)
    flink.add(other)
    await headgate.tick()
    flink.advance(600)
    await headgate.until(lambda: headgate.state("orders").intent is None, LIMIT)
    assert flink.alive == [other.job_id]
    assert headgate.state("orders").job_wide is None


async def test_the_savepoint_is_remembered_when_flink_has_forgotten_the_job(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """It lists ended jobs for an hour; a job may be down for longer."""
    flink.unanswered_starts = 1
    await headgate.order("orders", WANTED)
    await headgate.until(lambda: flink.unanswered_starts == 0, LIMIT)
    await headgate.going_on(timedelta(milliseconds=100))
    flink.vanish(OLD)
    flink.advance(5)
    await reached(headgate)
    assert flink.started[NEW].body["savepointPath"] == f"file:/savepoints/{OLD[:6]}"


async def test_another_processs_job_is_left_where_it_is(flink: RedeployableFlink, headgate: RedeployingService) -> None:
    """The lease is lost between stop and start: no start is sent, until it is this process's again."""
    flink.savepoint_takes = True
    await headgate.order("orders", WANTED)
    await headgate.until(lambda: bool(flink.asked("/stop", "POST")), LIMIT)
    headgate.ours = False
    flink.savepoint_takes = False
    await headgate.going_on(timedelta(milliseconds=200))
    assert not flink.asked("/run", "POST")
    headgate.ours = True
    await reached(headgate)


async def test_a_drive_under_way_does_not_stop_a_job_that_may_not_be_changed_any_more(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """The cluster did not answer while it was still allowed; then Headgate was switched to advice."""
    flink.plant(Fault(path="*/plan"))
    await headgate.order("orders", WANTED)
    headgate._cycle = replace(headgate._cycle, mode=Mode.ADVISE)
    await headgate.tick()
    flink.heal()
    assert "had not begun" in await refusal(headgate)
    assert not flink.asked("/stop", "POST")


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
    assert "did not all run within 1 min" in await refusal(headgate)


async def test_a_start_that_came_up_just_in_time_is_not_cancelled(
    flink: RedeployableFlink, headgate: RedeployingService
) -> None:
    """It is looked at only after its limit, and works by then."""
    flink.starting = True
    await headgate.order("orders", WANTED)
    await headgate.until(lambda: flink.alive == [NEW], LIMIT)
    flink.ready()
    flink.advance(61)
    looks = flink.asked("/jobs/overview")
    await until_quietly(lambda: flink.asked("/jobs/overview") > looks)
    await reached(headgate)
    assert flink.alive == [NEW]
    assert not flink.asked(f"/jobs/{NEW}", "PATCH")


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
