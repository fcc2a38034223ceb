"""A simulated job that owes its users something: its load steps up, and down again."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from headgate.engines.simulated.settings import ClusterSettings, RestartSettings
from headgate.model.events import EventReason
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.options.sla import SlaOptions
from headgate.simulate import Scenario
from headgate.simulate.building import job, steps, vertex
from headgate.simulate.simulation import simulate
from headgate.simulate.summary import summarise

STEP_S = 120
AGREED_S = 90
AGREED = SlaOptions(recovery_time=timedelta(seconds=AGREED_S))
DOWNTIME = timedelta(seconds=20)


def _scenario(
    sla: SlaOptions, rates: dict[int, float], parallelism: int, *, minutes: int = 5, **options: Any
) -> Scenario:
    """Build source -> count, 100/s a subtask of the latter, stopped for 20 s by each rescale."""
    quick: dict[str, Any] = {
        "metrics_window": timedelta(seconds=30),
        "stabilization_interval": timedelta(seconds=10),
        "restart_time": DOWNTIME,
        "catch_up_duration": timedelta(),
        "utilization_target": 0.9,
        "utilization_boundary": 0.1,
        "scale_down_interval": timedelta(),
        "alignment_mode": "OFF",
        "reaction": Reaction.WINDOWED,
    }
    return Scenario(
        jobs=(
            job(
                "orders",
                vertex("source", 100_000, load=steps(rates)),
                vertex("count", 100, parallelism=parallelism),
            ),
        ),
        cluster=ClusterSettings(
            checkpoint_interval=timedelta(), cooldown=timedelta(), restart=RestartSettings(base=DOWNTIME)
        ),
        duration=timedelta(minutes=minutes),
        collect_interval=timedelta(seconds=5),
        decide_interval=timedelta(seconds=10),
        autoscaler=AutoscalerOptions(sla=sla, **{**quick, **options}),
    )


def test_a_job_with_an_agreement_recovers_in_time_where_one_without_does_not() -> None:
    """
    The load trebles. Nine tenths busy leave too little to spare to work off what comes in until the rescale is done.

    With the agreement it goes further, by what is needed for that, and back once nothing waits.
    """
    load = {0: 200.0, STEP_S: 600.0}

    free, bound = (_scenario(sla, load, 3, minutes=9) for sla in (SlaOptions(), AGREED))

    assert (_recovery_s(free) or math.inf) > AGREED_S
    assert (_recovery_s(bound) or math.inf) <= AGREED_S


def _recovery_s(scenario: Scenario) -> float | None:
    """Give how long it took from the largest backlog, at the end of a downtime, until nothing waited."""
    return summarise(simulate(scenario).job, scenario).drained_after_s


@pytest.mark.parametrize(("horizon", "shrinks"), [(timedelta(minutes=1), False), (timedelta(hours=1), True)])
def test_a_shrink_that_costs_more_than_it_saves_is_not_made(horizon: timedelta, *, shrinks: bool) -> None:
    """Eleven subtasks stand still for 20 s to save two; that takes longer than a minute to pay."""
    load = {0: 850.0, STEP_S: 600.0}

    run = simulate(_scenario(AGREED, load, 10, rescale_horizon=horizon))

    assert bool(run.job.rescales) == shrinks
    assert any(decision.reason is Reason.NOT_WORTH_RESTART for decision in run.job.decisions) != shrinks
    assert not [event for event in run.events if event.reason is EventReason.AGREEMENT_AT_RISK]


def test_what_cannot_be_kept_is_told_once_an_interval() -> None:
    """Three subtasks are the most and never level again; a dozen decisions make one event of it."""
    run = simulate(_scenario(AGREED, {0: 200.0, STEP_S: 600.0}, 3, max_parallelism=3))

    told = [event for event in run.events if event.reason is EventReason.AGREEMENT_AT_RISK]
    assert len(told) == 1
    assert "never level again (90 s agreed)" in told[0].message
    assert not run.job.rescales
