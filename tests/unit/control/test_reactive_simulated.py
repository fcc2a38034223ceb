"""The whole control loop with a reactive job on a simulated cluster whose slots come and go."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headgate.model.events import EventReason, EventType
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import Demand
from headgate.simulate import (
    ClusterSettings,
    Failure,
    FailureKind,
    RestartSettings,
    Run,
    Scenario,
    constant,
    job,
    simulate,
    vertex,
)
from headgate.testing.reacting import reactive

WORDS = job("words", vertex("read", 1_000, load=constant(500), parallelism=2), vertex("count", 1_000, parallelism=1))


def lost(slots: int, *, at_s: int, for_s: int) -> Failure:
    """Take slots away for a while."""
    return Failure(
        what=FailureKind.TASK_MANAGER, at=timedelta(seconds=at_s), duration=timedelta(seconds=for_s), slots=slots
    )


def run(*failures: Failure, options: AutoscalerOptions | None = None, minutes: float = 8) -> Run:
    """Simulate a few minutes on eight slots."""
    cluster = ClusterSettings(
        slots=8,
        checkpoint_interval=timedelta(seconds=10),
        cooldown=timedelta(seconds=5),
        stabilization=timedelta(seconds=5),
        restart=RestartSettings(base=timedelta(seconds=5)),
    )
    return simulate(
        Scenario(
            jobs=(WORDS,),
            cluster=cluster,
            failures=failures,
            duration=timedelta(minutes=minutes),
            autoscaler=options or reactive(),
        )
    )


def frames(ran: Run, begin_s: int, end_s: int) -> set[int]:
    """Give the slots that the job took within a time."""
    return {frame.slots for frame in ran.job.frames if begin_s <= frame.at_s <= end_s}


def test_a_job_grows_to_all_slots_and_follows_them() -> None:
    """Half of them are gone for two minutes: it shrinks at once, and has them again soon after they are back."""
    ran = run(lost(4, at_s=180, for_s=120))

    assert frames(ran, 120, 170) == {8}
    assert frames(ran, 200, 290) == {4}
    assert frames(ran, 360, 480) == {8}
    assert [event.reason for event in ran.events if event.type is EventType.WARNING] == []


def test_workers_that_come_later_are_used() -> None:
    """A cluster that began with two slots has eight after three minutes."""
    ran = run(lost(6, at_s=0, for_s=180))

    assert frames(ran, 60, 170) == {2}
    assert frames(ran, 270, 480) == {8}


@pytest.mark.parametrize("at_s", [62, 80])
def test_a_worker_lost_amid_a_growth_leaves_the_job_running_with_what_there_is(at_s: int) -> None:
    """And it ends with all slots when the worker is back, whatever became of the change under way."""
    ran = run(lost(4, at_s=at_s, for_s=180))

    assert frames(ran, 180, 240) == {4}
    assert frames(ran, 360, 480) == {8}
    assert EventReason.SLOTS_SHORT not in {event.reason for event in ran.events}


def test_a_demand_that_follows_the_need_takes_no_more() -> None:
    """500 records/s of 1,000 that one subtask can do need no second one."""
    ran = run(options=reactive(demand=Demand.NEED))
    assert max(frame.slots for frame in ran.job.frames) <= 2
