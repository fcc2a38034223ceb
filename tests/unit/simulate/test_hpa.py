"""The paper's policy in the closed loop: the same control as the service's, in front of a simulated cluster."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.simulate import Run, Scenario, job, simulate, sine, steps, vertex
from headgate.simulate.summary import summarise

HPA = AutoscalerOptions(
    evaluator="hpa",
    metrics_window=timedelta(minutes=4),
    stabilization_interval=timedelta(seconds=20),
    scale_down_interval=timedelta(),
    scale_down_max_factor=1.0,
    alignment_mode="OFF",
    max_parallelism=64,
)
"""What else delays or rounds is off: the HPA's own windows decide."""

STEP = Scenario(
    jobs=(job("step", vertex("pipe", 2000, load=steps({0: 2500, 600: 8000, 2000: 2500}), parallelism=2)),),
    autoscaler=replace(HPA, utilization_target=0.8),
    duration=timedelta(minutes=55),
    decide_interval=timedelta(minutes=1),
)
"""Two subtasks are 0.625 busy; the step needs four of them at least, five for the target."""


@pytest.fixture(scope="module")
def stepped() -> Run:
    """Run the step once for all."""
    return simulate(STEP)


def test_a_step_is_answered_by_the_lag_in_proportion(stepped: Run) -> None:
    """
    Twice what two subtasks can do comes in: four of two, at once, and nothing was moved before it.

    Half a minute after the step, both the mean lag and utilization are too small yet to have a say. A larger step would
    be answered by then, from a window of which half lies before it.
    """
    assert stepped.job.rescales[0].changes == {"pipe": (2, 4)}
    assert 660 < stepped.job.rescales[0].began_s < 780
    first = next(decision for decision in stepped.job.decisions if decision.acts)
    assert "lag change 2 of 1" in first.message
    assert "lag change wins with 4" in first.message


def test_the_backlog_is_worked_off_and_the_job_shrinks_again(stepped: Run) -> None:
    """At the end of the step nothing waits; half an hour after it two subtasks are enough, by their utilization."""
    assert next(frame for frame in stepped.job.frames if frame.at_s >= 1990).lag < 8000
    assert stepped.job.parallelism == {"pipe": 2}
    last = [decision for decision in stepped.job.decisions if decision.acts][-1]
    assert "utilization wins" in last.message


def test_while_a_backlog_waits_nothing_shrinks(stepped: Run) -> None:
    """Of whatever is done to a job with more than the minimum lag, nothing makes it smaller."""
    behind = [decision for decision in stepped.job.decisions if decision.evaluated and decision.evaluated.backlog]
    assert behind
    assert not [p for decision in behind for p in decision.proposals if p.wanted < p.current]


def test_no_decision_is_made_while_the_windows_reach_back_before_a_change(stepped: Run) -> None:
    """The gate: two rescales are never closer than the metric window and the stabilization interval."""
    begins = [rescale.began_s for rescale in stepped.job.rescales]
    assert all(later - earlier > 4 * 60 + 20 for earlier, later in pairwise(begins))
    assert {Reason.STABILIZING, Reason.WINDOW_FILLING} <= {decision.reason for decision in stepped.job.decisions}


def test_it_stays_within_the_job_s_bounds() -> None:
    """What the HPA wants beyond them is not had: three subtasks are all there may be."""
    options = replace(STEP.autoscaler, min_parallelism=2, max_parallelism=3)
    bounded = replace(STEP, autoscaler=options, duration=timedelta(minutes=15))
    assert {frame.parallelism["pipe"] for frame in simulate(bounded).job.frames} <= {2, 3}


def test_a_wave_is_followed_without_a_growing_lag() -> None:
    """A slow wave and a half: the job grows and shrinks with it, and is late for a small part of the time."""
    wave = Scenario(
        jobs=(job("wave", vertex("pipe", 1000, load=sine(5000, 3000, timedelta(minutes=45)), parallelism=8)),),
        autoscaler=HPA,
        duration=timedelta(minutes=68),
        collect_interval=timedelta(seconds=20),
        decide_interval=timedelta(minutes=1),
    )
    run = simulate(wave)
    summary = summarise(run.job, wave)
    sizes = {frame.parallelism["pipe"] for frame in run.job.frames}
    assert min(sizes) <= 5
    assert max(sizes) >= 11
    assert summary.late_s < 0.1 * wave.duration.total_seconds()
    assert run.job.frames[-1].lag < 60 * 8000
