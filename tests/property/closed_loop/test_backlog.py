"""Rule 5: no scale-down while working off a backlog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import given

from headgate.engines.simulated.cluster import START
from headgate.model.decision import Decision
from headgate.simulate import Frame, SimulatedJob, steps
from headgate.testing.simulated import FEW, STEADY, Steady, seconds, steadily, steady_jobs
from headgate.testing.watched import WatchedSimulation, watch


@FEW
@given(
    steady=steady_jobs(),
    flood=st.integers(1, 4),
    until=st.integers(40, 100),
    threshold=seconds(5, 20),
    most=st.sampled_from([8, 200]),
)
def test_nothing_shrinks_while_a_backlog_is_worked_off(
    steady: Steady, flood: int, until: int, threshold: timedelta, most: int
) -> None:
    """No scale-down while working off a backlog: first a flood comes, then a trickle."""
    job = flooded(steady[0], flood=flood, until=until)
    options = replace(STEADY, backlog_lag_threshold=threshold, max_parallelism=most)
    simulation = watch(steadily(job, autoscaler=options))
    assert [d for d in simulation.decisions if shrinks(d) and is_behind(simulation, d)] == []


def flooded(job: SimulatedJob, *, flood: int, until: int) -> SimulatedJob:
    """Let several times the load arrive at first, then a twentieth of it."""
    source = job.vertices[0]
    load = steps({0: flood * source.load.rate, until: source.load.rate / 20})
    return replace(job, vertices=(replace(source, load=load), *job.vertices[1:]))


def shrinks(decision: Decision) -> bool:
    """Tell whether a decision takes subtasks away from any vertex."""
    return any(change.wanted < change.current for change in decision.changes.values())


def is_behind(simulation: WatchedSimulation, decision: Decision) -> bool:
    """Tell whether more waits in truth than the job reads, at its fastest, within the threshold."""
    options = simulation.scenario.autoscaler
    *_, latest = frames = list(frames_within(simulation, decision, options.metrics_window))
    read_per_s = max(frame.source_per_s for frame in frames)
    return latest.lag > 1.05 * read_per_s * options.backlog_lag_threshold.total_seconds()


def frames_within(simulation: WatchedSimulation, decision: Decision, window: timedelta) -> Iterator[Frame]:
    """Give the frames of the window behind a decision."""
    end_s = (decision.at - START).total_seconds()
    frames: Sequence[Frame] = simulation.result.job.frames
    return (frame for frame in frames if end_s - window.total_seconds() <= frame.at_s <= end_s)
