"""A run in numbers, and what would have been enough."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.engines.simulated.restart import Cause, Restart
from headgate.options.autoscaler import AutoscalerOptions
from headgate.simulate import Frame, JobRun, Scenario, constant, job, steps, vertex
from headgate.simulate.oracle import least_parallelism
from headgate.simulate.summary import oscillations, summarise

PIPE = job("pipe", vertex("source", 1000, load=constant(100)), vertex("count", 50))
SCENARIO = Scenario(jobs=(PIPE,), duration=timedelta(minutes=1), lag_threshold=timedelta(seconds=5))


def frame(at_s: float, *, lag: float = 0, running: bool = True, slots: int = 3) -> Frame:
    """Make a frame of ten seconds."""
    return Frame(
        at_s=at_s,
        span_s=10,
        running=running,
        arrivals_per_s=100,
        source_per_s=100,
        sink_per_s=100,
        lag=lag,
        slots=slots,
        parallelism={"source": 1, "count": slots},
        busy={"source": 0.1, "count": 0.7},
        read_per_s={"source": 100, "count": 100},
    )


def restart(at_s: float, before: int, after: int, cause: Cause = Cause.RESCALE) -> Restart:
    """Make a rescale of the second vertex."""
    return Restart(cause=cause, began_s=at_s, ended_s=at_s + 10, before={"count": before}, after={"count": after})


def summary_of(*frames: Frame, restarts: tuple[Restart, ...] = ()) -> dict[str, object]:
    """Summarise a run."""
    found = summarise(JobRun(name="pipe", frames=frames, restarts=restarts, decisions=()), SCENARIO)
    return {name: getattr(found, name) for name in found.__slots__}


def test_times_are_added_up_over_the_frames() -> None:
    """Down for 10 s, the lag growing for 20 s and above five seconds' worth for 20 s."""
    found = summary_of(
        frame(10), frame(20, lag=400, running=False), frame(30, lag=900), frame(40, lag=600), frame(50, lag=90)
    )
    assert (found["downtime_s"], found["lag_growing_s"], found["late_s"]) == (10, 20, 20)
    assert (found["peak_lag"], found["drained_after_s"]) == (900, 20)
    assert found["slot_seconds"] == 150


def test_a_lag_that_stays_is_never_worked_off() -> None:
    """There is no time to tell."""
    assert summary_of(frame(10, lag=500), frame(20, lag=400))["drained_after_s"] is None


def test_a_restart_at_the_same_parallelism_is_no_rescale() -> None:
    """But it is a restart."""
    found = summary_of(frame(10), restarts=(restart(5, 2, 2, Cause.FAILURE), restart(8, 2, 3)))
    assert (found["rescales"], found["restarts"]) == (1, 2)


def test_a_vertex_that_turns_back_soon_oscillates() -> None:
    """Not one that goes on in the same direction, or turns back after a long time, or that lost its slots."""
    hour = 3600.0
    assert len(list(oscillations([restart(0, 2, 4), restart(600, 4, 3)]))) == 1
    assert list(oscillations([restart(0, 2, 4), restart(600, 4, 6)])) == []
    assert list(oscillations([restart(0, 2, 4), restart(hour, 4, 3)])) == []
    assert list(oscillations([restart(0, 2, 4), restart(600, 4, 3, Cause.SLOTS)])) == []


def test_the_least_parallelism_carries_the_load_at_the_target() -> None:
    """Ratios, limits and partitions count: the second vertex gets twice the records of the first."""
    graph = job(
        "graph",
        vertex("source", 100, partitions=3, selectivity=2),
        vertex("count", 70),
        vertex("sink", 10, limit=5),
    )
    found = least_parallelism(graph, {"source": 400}, utilization=0.7, most=100)
    assert found == {"source": 3, "count": 17, "sink": 1}
    # a sink that is limited from outside needs no more than what brings it to its limit
    assert least_parallelism(graph, {"source": 70}, utilization=0.7, most=100)["count"] == 3


def test_least_slot_seconds_follow_the_load() -> None:
    """Half a minute at 2 subtasks and half a minute at 4."""
    waves = job("waves", vertex("source", 1000, load=steps({0: 70, 30: 140})), vertex("count", 50))
    options = AutoscalerOptions(utilization_target=0.7)
    scenario = replace(SCENARIO, jobs=(waves,), autoscaler=options, decide_interval=timedelta(seconds=10))
    found = summarise(JobRun(name="waves", frames=(frame(10),), restarts=(), decisions=()), scenario)
    assert found.least_slot_seconds == pytest.approx(30 * 2 + 30 * 4)
