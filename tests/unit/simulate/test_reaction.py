"""A job that reacts to its input since that changed last: quickly up, soon down, and never by noise."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.simulate import (
    ClusterSettings,
    JobRun,
    Load,
    RestartSettings,
    Scenario,
    constant,
    job,
    simulate,
    steps,
    vertex,
)

UP, DOWN, END = 100.0, 200.0, 250.0
STEPS = steps({0: 400.0, UP: 1600.0, DOWN: 400.0})
"""A subtask of the last vertex can do 667/s: at 0.7 of it one is enough for 400/s, and 1600/s take four."""
NOISY_STEPS = replace(STEPS, noise=0.2, noise_interval=timedelta(seconds=2))

FAST = AutoscalerOptions(
    reaction=Reaction.FAST,
    metrics_window=timedelta(seconds=60),
    stabilization_interval=timedelta(seconds=10),
    utilization_target=0.7,
    utilization_boundary=0.1,
    max_parallelism=12,
    restart_time=timedelta(seconds=2),
    catch_up_duration=timedelta(seconds=60),
)


def scenario(load: Load, *, options: AutoscalerOptions = FAST, lasting: float = END) -> Scenario:
    """Let a chain of three run on a cluster that restarts jobs in two seconds and measures every second."""
    pipe = job("pipe", vertex("source", 20_000, load=load), vertex("parse", 5_000), vertex("agg", 667))
    cluster = ClusterSettings(
        slots=12,
        checkpoint_interval=timedelta(seconds=2),
        cooldown=timedelta(),
        metric_refresh=timedelta(seconds=1),
        restart=RestartSettings(base=timedelta(seconds=2)),
    )
    return Scenario(
        jobs=(pipe,),
        cluster=cluster,
        duration=timedelta(seconds=lasting),
        collect_interval=timedelta(seconds=2),
        decide_interval=timedelta(seconds=5),
        autoscaler=options,
    )


@functools.cache
def lived(load: Load, *, lasting: float = END, options: AutoscalerOptions = FAST) -> JobRun:
    """Give the run of the job, once for all who ask."""
    return simulate(scenario(load, options=options, lasting=lasting)).job


def rescales(run: JobRun) -> list[tuple[float, Mapping[str, tuple[int, int]]]]:
    """Give when each rescale was asked for, and what it changed."""
    return [(restart.began_s, dict(restart.changes)) for restart in run.rescales]


def test_a_step_is_answered_by_one_rescale_within_seconds() -> None:
    """Up within ten seconds and down within three quarters of a minute, each time straight to what is needed."""
    run = lived(NOISY_STEPS)

    (up, grown), (down, shrunk) = rescales(run)

    assert UP < up <= UP + 10
    assert grown == {"agg": (1, 4)}
    assert DOWN < down <= DOWN + 45
    assert shrunk == {"agg": (4, 1)}
    assert run.parallelism == {"source": 1, "parse": 1, "agg": 1}


def test_the_mean_over_the_window_comes_there_later_and_in_steps() -> None:
    """What it is held against: the same job, whose window is full of the new load only after a minute."""
    windowed = replace(FAST, reaction=Reaction.WINDOWED, scale_down_interval=timedelta(), scale_down_max_factor=1.0)

    run = lived(STEPS, options=windowed, lasting=DOWN)

    assert len(run.rescales) > 1
    assert run.rescales[0].after["agg"] < 4
    assert run.rescales[-1].began_s > UP + 30


def test_a_decision_names_the_change_that_it_answers() -> None:
    """Who asks why the job grew is told when its load did."""
    run = lived(NOISY_STEPS)

    made = next(decision for decision in run.decisions if decision.acts)

    assert made.reason is Reason.RESCALED
    assert "the load changed" in made.message


def test_noise_rescales_nothing() -> None:
    """Ten minutes of an even load with noise of 20 %, beginning with what it needs: as if there were none."""
    rarely = timedelta(seconds=5)
    noisy = scenario(replace(constant(1600.0), noise=0.2, noise_interval=rarely), lasting=600.0)
    *before, agg = noisy.jobs[0].vertices
    sized = replace(noisy.jobs[0], vertices=(*before, replace(agg, parallelism=4)))

    run = simulate(replace(noisy, jobs=(sized,), collect_interval=rarely, decide_interval=2 * rarely))

    assert rescales(run.job) == []
