"""What the built-in checkers take for sick after a rescale, and what they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from math import nan
from typing import Any

import pytest

from headgate.algorithm.sickness import (
    Rule,
    lack_of_network_memory,
    memory_pressure,
    never_running,
    not_reached,
    restart_loop,
)
from headgate.model.identity import VertexId
from headgate.model.measures import JobMeasure, JobStatus
from headgate.model.rollback import Aftermath, JobFailure, Pool, Run, Shortage, Trial
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.rollback import RollbackOptions
from headgate.testing.builders import at

WORK, SINK = VertexId("work"), VertexId("sink")
RULES = (lack_of_network_memory, memory_pressure, restart_loop, never_running, not_reached)
OPTIONS = AutoscalerOptions()
GC, HEAP = JobMeasure.GC_PRESSURE, JobMeasure.HEAP_MAX_USAGE_RATIO
MINUTE = 60.0

NO_BUFFERS = (
    "java.io.IOException: Insufficient number of network buffers: required 17, but only 3 available. "
    "The total number of network buffers is currently set to 2048 of 32768 bytes each. You can increase this number by "
    "setting the configuration keys 'taskmanager.memory.network.fraction', 'taskmanager.memory.network.min', and "
    "'taskmanager.memory.network.max'."
)
TIMED_OUT = "java.io.IOException: Timeout triggered when requesting exclusive buffers: The total number of ..."
NO_HEAP = "java.lang.OutOfMemoryError: Java heap space"
LOST = "org.apache.flink.runtime.jobmaster.JobMasterException: TaskManager with id tm1 is no longer reachable."
TOLD_TO_GO = "org.apache.flink.util.FlinkExpectedException: The TaskExecutor is shutting down."
BROKEN = (
    "org.apache.flink.streaming.runtime.tasks.StreamTaskException: Cannot open\n"
    "Caused by: java.sql.SQLException: no access to db.example.org with password hunter2"
)


def rescaled(
    work: tuple[int, int] = (2, 8),
    *,
    minutes: float = 5.0,
    reached: bool = True,
    before: Mapping[JobMeasure, float] | None = None,
    since: Mapping[JobMeasure, float] | None = None,
    failures: Sequence[JobFailure] = (),
) -> Aftermath:
    """Give a job whose `work` was rescaled at the beginning, and that has run so from the next minute on."""
    old, new = work
    trial = Trial(
        decision_id="d1",
        began_at=at(0),
        before=Run(job_id="j1", fingerprint="f", parallelism={WORK: old, SINK: 1}),
        after={WORK: new},
        values=before or {},
        reached_at=at(MINUTE) if reached else None,
    )
    return Aftermath(
        trial=trial,
        now=at(minutes * MINUTE),
        status=JobStatus.RUNNING,
        running={WORK: new if reached else old, SINK: 1},
        failures=tuple(failures),
        values=since or {},
    )


def failing(text: str, *seconds: float) -> Sequence[JobFailure]:
    """Give a failure of that text at each of these seconds."""
    return [JobFailure(at=at(second), text=text) for second in seconds]


def own(**options: Any) -> AutoscalerOptions:
    """Give options with these of a rollback."""
    return replace(OPTIONS, rollback=replace(RollbackOptions(), **options))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("work", [(2, 8), (8, 2)])
def test_a_rescale_that_went_well_is_left_alone(rule: Rule, work: tuple[int, int]) -> None:
    """The job runs as wanted, uses a bit more memory than before, and has not failed."""
    assert rule(rescaled(work, before={GC: 0.1, HEAP: 0.4}, since={GC: 0.2, HEAP: 0.6}), OPTIONS) is None


@pytest.mark.parametrize("status", [JobStatus.FINISHED, JobStatus.CANCELED, JobStatus.OTHER])
@pytest.mark.parametrize("rule", RULES)
def test_a_job_that_somebody_ended_is_not_sick(rule: Rule, status: JobStatus) -> None:
    """It will never run again, as was wanted; cancelling it may take its time."""
    ended = replace(rescaled(minutes=60, reached=False), status=status, down_since=at(1))
    assert rule(ended, OPTIONS) is None


def test_too_few_network_buffers() -> None:
    """Again and again after a scale-up; the evidence says how many there are, and how many it takes."""
    said = lack_of_network_memory(rescaled(failures=failing(NO_BUFFERS, 70, 75)), OPTIONS)
    assert str(said) == ("2 failures for want of network buffers since a scale-up: 17 required, 3 of 2048 available")


@pytest.mark.parametrize(
    ("text", "shortage"),
    [
        (f"java.lang.Exception: Could not start.\nCaused by: {NO_BUFFERS}", ": 17 required, 3 of 2048 available"),
        (NO_BUFFERS.partition(" The total")[0], ": 17 required, 3 available"),
        (TIMED_OUT, ""),
        (
            "java.io.IOException: Insufficient number of network buffers: required 9, but only 0 of 64 available.",
            ": 9 required, 0 available",
        ),
    ],
)
def test_the_ways_in_which_flink_says_so(text: str, shortage: str) -> None:
    """As a cause of something else, cut short, as a time-out, and as old versions put it."""
    said = lack_of_network_memory(rescaled(failures=failing(text, 70, 75)), OPTIONS)
    assert str(said) == f"2 failures for want of network buffers since a scale-up{shortage}"


def test_the_evidence_tells_how_much_memory_is_missing() -> None:
    """In numbers, as far as Flink told them: where the memory can be raised, it goes by these."""
    network = lack_of_network_memory(rescaled(failures=failing(NO_BUFFERS, 70, 75)), OPTIONS)
    unknown = lack_of_network_memory(rescaled(failures=failing(TIMED_OUT, 70, 75)), OPTIONS)
    heap = memory_pressure(rescaled((8, 2), failures=failing(NO_HEAP, 70, 75)), OPTIONS)
    pressed = memory_pressure(rescaled((8, 2), before={GC: 0.1}, since={GC: 0.9}), OPTIONS)
    assert network
    assert network.shortage == Shortage(pool=Pool.NETWORK, required=17, available=3, buffers=2048)
    assert network.shortage.missing == 14
    assert [each.shortage for each in (unknown, heap, pressed) if each] == [
        Shortage(pool=Pool.NETWORK),
        Shortage(pool=Pool.HEAP),
        Shortage(pool=Pool.HEAP),
    ]


def test_memory_is_no_cure_for_everything() -> None:
    """However much an exception speaks of memory."""
    looping = restart_loop(rescaled(failures=failing(NO_HEAP, 70, 80, 90)), OPTIONS)
    assert looping
    assert looping.shortage is None


def test_one_shortage_of_buffers_is_an_accident() -> None:
    """The tasks before may not have given theirs back; how many count is an option."""
    once = rescaled(failures=failing(NO_BUFFERS, 70))
    assert lack_of_network_memory(once, OPTIONS) is None
    assert lack_of_network_memory(once, own(memory_failures=1))


def test_a_scale_down_does_not_want_network_buffers() -> None:
    """Fewer subtasks have fewer channels: something else has taken the buffers."""
    assert lack_of_network_memory(rescaled((8, 2), failures=failing(NO_BUFFERS, 70, 75)), OPTIONS) is None


@pytest.mark.parametrize(("measure", "name"), [(GC, "time in garbage collection"), (HEAP, "heap in use")])
def test_memory_pressure_that_came_with_the_rescale(measure: JobMeasure, name: str) -> None:
    """Above the threshold since, and not before."""
    said = memory_pressure(rescaled((8, 2), before={measure: 0.25}, since={measure: 0.99}), OPTIONS)
    limit = {GC: "50.0%", HEAP: "95.0%"}[measure]
    assert str(said) == f"{name}: 99.0% on average since the rescale, above {limit}, and 25.0% before it"


@pytest.mark.parametrize(
    ("before", "since"),
    [({GC: 0.6}, {GC: 0.9}), ({}, {GC: 0.9}), ({GC: nan}, {GC: 0.9}), ({GC: 0.1}, {GC: nan}), ({GC: 0.1}, {GC: 0.5})],
)
def test_memory_pressure_of_which_the_rescale_is_not_guilty(
    before: Mapping[JobMeasure, float], since: Mapping[JobMeasure, float]
) -> None:
    """There was pressure before, or nobody knows; unknown since; or not above the threshold."""
    assert memory_pressure(rescaled((8, 2), before=before, since=since), OPTIONS) is None


def test_memory_pressure_right_after_the_rescale_does_not_count() -> None:
    """Starting takes memory, and one sample is no mean: the job must have run as wanted for two minutes."""
    pressed: Callable[[float], Aftermath] = lambda minutes: rescaled(  # noqa: E731 - short
        (8, 2), before={GC: 0.1}, since={GC: 0.9}, minutes=minutes
    )
    assert memory_pressure(pressed(2.9), OPTIONS) is None
    assert memory_pressure(pressed(3.0), OPTIONS)
    assert memory_pressure(replace(pressed(30), trial=replace(pressed(30).trial, reached_at=None)), OPTIONS) is None


def test_memory_pressure_is_told_before_the_next_decision_could_cover_it_up() -> None:
    """A slow job looks too small: where the next decision comes within two minutes, the verdict comes before it."""
    hasty = replace(OPTIONS, stabilization_interval=timedelta(seconds=10), metrics_window=timedelta(seconds=40))
    pressed = rescaled((8, 2), minutes=1.6, before={JobMeasure.GC_PRESSURE: 0.1}, since={JobMeasure.GC_PRESSURE: 0.9})
    assert memory_pressure(pressed, OPTIONS) is None
    assert memory_pressure(pressed, hasty)


def test_the_references_thresholds_win_where_they_are_set() -> None:
    """Ours hold while they are unset; set to 1, their default, nothing is above them."""
    pressed = rescaled((8, 2), before={GC: 0.1, HEAP: 0.1}, since={GC: 0.4, HEAP: 0.9})
    assert memory_pressure(pressed, OPTIONS) is None
    assert "above 30.0%" in str(memory_pressure(pressed, replace(OPTIONS, gc_pressure_threshold=0.3)))
    assert "above 80.0%" in str(memory_pressure(pressed, replace(OPTIONS, heap_usage_threshold=0.8)))
    assert memory_pressure(pressed, own(gc_pressure=0.3))
    assert memory_pressure(pressed, replace(own(gc_pressure=0.3), gc_pressure_threshold=0.6)) is None
    assert memory_pressure(pressed, replace(own(gc_pressure=0.3), keys_set=("memory.gc-pressure.threshold",))) is None


@pytest.mark.parametrize("work", [(2, 8), (8, 2)])
@pytest.mark.parametrize("reached", [True, False])
def test_running_out_of_heap(work: tuple[int, int], *, reached: bool) -> None:
    """In either direction: a scale-down has more state a subtask, a scale-up more subtasks a TaskManager."""
    overhead = "java.lang.Exception: x\nCaused by: java.lang.OutOfMemoryError: GC overhead limit exceeded"
    sick = rescaled(work, reached=reached, failures=[*failing(NO_HEAP, 70), *failing(overhead, 80)])
    assert str(memory_pressure(sick, OPTIONS)) == (
        "2 failures for want of heap since the rescale, the last: GC overhead limit exceeded"
    )
    assert memory_pressure(replace(sick, failures=sick.failures[1:]), OPTIONS) is None


def test_other_memory_is_not_the_heap() -> None:
    """More heap would not help; a job that fails so again and again is in a restart loop."""
    failures = failing("java.lang.OutOfMemoryError: Metaspace", 70, 75, 80)
    assert memory_pressure(rescaled((8, 2), failures=failures), OPTIONS) is None
    assert restart_loop(rescaled((8, 2), failures=failures), OPTIONS)


@pytest.mark.parametrize(
    "text",
    [
        LOST,
        "java.util.concurrent.TimeoutException: Heartbeat of TaskManager with id tm1 timed out.",
        "org.apache.flink.X: Connection closed by 'h:1'. This might indicate that the remote task manager was lost.",
        "java.lang.Exception: Pod terminated, container termination statuses: [main(exitCode=137, reason=OOMKilled)]",
    ],
)
def test_task_managers_that_die_after_a_scale_down(text: str) -> None:
    """As often as failures make a restart loop; after a scale-up memory is not the first thing to think of."""
    said = memory_pressure(rescaled((8, 2), failures=failing(text, 70, 130, 190)), OPTIONS)
    assert str(said) == "3 failures by lost TaskManagers within 10 min since a scale-down"
    assert memory_pressure(rescaled((8, 2), failures=failing(text, 70, 130)), OPTIONS) is None
    assert memory_pressure(rescaled((2, 8), failures=failing(text, 70, 130, 190)), OPTIONS) is None


def test_a_restart_loop() -> None:
    """Three failures; the evidence names the innermost cause, without its text, which may hold a secret."""
    looping = rescaled(failures=failing(BROKEN, 70, 80, 100))
    assert (
        str(restart_loop(looping, OPTIONS))
        == "3 failures within 10 min since the rescale, the last by java.sql.SQLException"
    )
    assert restart_loop(rescaled(failures=failing(BROKEN, 70, 80)), OPTIONS) is None
    assert str(restart_loop(rescaled(failures=failing("it broke", 70, 80)), own(restarts=2))) == (
        "2 failures within 10 min since the rescale, the last by an unnamed exception"
    )


def test_failures_that_the_job_got_over() -> None:
    """Those of longer ago than the window do not count, nor do those before the rescale."""
    failures = failing(BROKEN, 70, 80, 100)
    assert restart_loop(rescaled(minutes=11, failures=failures), OPTIONS)
    assert restart_loop(rescaled(minutes=12, failures=failures), OPTIONS) is None
    assert restart_loop(rescaled(failures=failing(BROKEN, -20, -10, -5, 70)), OPTIONS) is None


def test_a_job_that_failed_as_often_before_is_in_no_loop_of_the_rescales() -> None:
    """Three more than in as long before it count, as three do where there were none."""
    chronic = tuple(failing(BROKEN, -550, -400, -250, -100))
    as_before = replace(rescaled(minutes=10, failures=failing(BROKEN, 50, 200, 350, 500)), failures_before=chronic)
    assert restart_loop(as_before, OPTIONS) is None
    worse = replace(as_before, failures=tuple(failing(BROKEN, 50, 120, 200, 280, 350, 420, 500)))
    assert str(restart_loop(worse, OPTIONS)) == (
        "7 failures within 10 min since the rescale, 4 before it, the last by java.sql.SQLException"
    )
    assert restart_loop(replace(as_before, failures_before=tuple(failing(TOLD_TO_GO, -250, -100))), OPTIONS)


def test_task_managers_that_died_as_often_before_do_not_want_memory() -> None:
    """Whatever kills them did so without the scale-down."""
    lost = rescaled((8, 2), failures=failing(LOST, 70, 130, 190))
    assert memory_pressure(lost, OPTIONS)
    assert memory_pressure(replace(lost, failures_before=tuple(failing(LOST, -70))), OPTIONS) is None


def test_task_managers_that_were_told_to_go_are_no_failures() -> None:
    """Somebody drains them; what is lost without a word counts."""
    assert restart_loop(rescaled(failures=failing(TOLD_TO_GO, 70, 80, 90, 100)), OPTIONS) is None
    assert restart_loop(rescaled(failures=failing(LOST, 70, 110, 150)), OPTIONS)


def test_one_task_manager_that_dies_is_one_failure() -> None:
    """Its slots are tried again before it is missed, and its heartbeat is missed later: no rescale is to blame."""
    assert restart_loop(rescaled(failures=failing(LOST, 70, 75, 80, 90, 120)), OPTIONS) is None


@pytest.mark.parametrize(
    ("rule", "text"), [(lack_of_network_memory, NO_BUFFERS), (memory_pressure, NO_HEAP), (restart_loop, BROKEN)]
)
def test_failures_until_the_memory_is_there_do_not_count(rule: Rule, text: str) -> None:
    """TaskManagers without it still fail, and go to come back with it; once the job runs so it counts anew."""
    failed = rescaled(failures=failing(text, 10, 20, 30))
    raised = replace(failed, trial=replace(failed.trial, memory_raised_at=at(0)))
    assert rule(failed, OPTIONS)
    assert rule(raised, OPTIONS) is None
    assert rule(replace(raised, trial=replace(raised.trial, reached_at=None)), OPTIONS) is None
    assert rule(replace(raised, failures=tuple(failing(text, 70, 80, 90))), OPTIONS)


def test_a_job_that_never_runs() -> None:
    """Not for longer than five minutes since the rescale, however long it has been down."""
    down = replace(rescaled(minutes=6, reached=False), status=JobStatus.RESTARTING, down_since=at(30))
    assert (
        str(never_running(down, OPTIONS)) == "not running for 5.5 min since the rescale, longer than 5 min: RESTARTING"
    )
    assert never_running(replace(down, down_since=at(60)), OPTIONS) is None
    assert never_running(replace(down, now=at(5 * MINUTE), down_since=at(-600)), OPTIONS) is None
    assert never_running(down, own(never_running=timedelta(minutes=10))) is None


def test_a_job_that_takes_long_to_restart_is_given_as_long() -> None:
    """As it was measured, else as the option says; never less than a job that is quick."""
    slow = replace(rescaled(minutes=6, reached=False), status=JobStatus.STARTING, down_since=at(30))
    assert never_running(slow, replace(OPTIONS, restart_time=timedelta(minutes=12))) is None
    assert never_running(replace(slow, restart_time=timedelta(minutes=12)), OPTIONS) is None
    assert never_running(replace(slow, restart_time=timedelta(seconds=30)), OPTIONS)
    assert str(never_running(replace(slow, restart_time=timedelta(minutes=12), now=at(13 * MINUTE)), OPTIONS)) == (
        "not running for 12.5 min since the rescale, longer than 12 min: STARTING"
    )


def test_a_job_that_its_engine_gave_up() -> None:
    """There is nothing to wait for."""
    failed = replace(rescaled(minutes=0.5, reached=False), status=JobStatus.FAILED, down_since=at(20))
    assert str(never_running(failed, OPTIONS)) == "FAILED 30 s after the rescale"


def test_a_rescale_that_does_not_come() -> None:
    """The job runs as before it, ten minutes later, and nobody waits for it any more."""
    waiting = replace(rescaled(minutes=10, reached=False), given_up=True)
    assert str(not_reached(waiting, OPTIONS)) == "the job still runs as before 10 min after it was to be rescaled"
    assert not_reached(replace(waiting, now=at(9 * MINUTE)), OPTIONS) is None
    assert not_reached(replace(waiting, given_up=False), OPTIONS) is None
    assert not_reached(replace(waiting, status=JobStatus.STARTING, down_since=at(590)), OPTIONS) is None


def test_a_job_that_got_a_part_of_what_was_wanted_is_left_alone() -> None:
    """It runs at what the slots allow: going back would take that from it."""
    waiting = replace(rescaled(minutes=60, reached=False), given_up=True, running={WORK: 5, SINK: 1})
    assert not_reached(waiting, OPTIONS) is None


def test_a_rescale_that_was_reached_once_is_not_outstanding() -> None:
    """What became of it later is for the others to say."""
    assert not_reached(replace(rescaled(minutes=60), given_up=True, running={WORK: 2, SINK: 1}), OPTIONS) is None


@pytest.mark.parametrize("rule", RULES)
def test_no_evidence_repeats_what_an_exception_says(rule: Rule) -> None:
    """Its text may hold addresses and passwords of the job."""
    texts = [f"{text}\n{BROKEN}" for text in (NO_BUFFERS, NO_HEAP, LOST, BROKEN)]
    failures = [failure for text in texts for failure in failing(text, 70, 80, 90)]
    sick = replace(rescaled(minutes=7, failures=failures), status=JobStatus.RESTARTING, down_since=at(60))
    said = str(rule(sick, OPTIONS))
    assert "hunter2" not in said
    assert "example.org" not in said
