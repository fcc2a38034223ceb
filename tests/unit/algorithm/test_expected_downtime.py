"""How long a rescale is expected to stop a job before, and after, one was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.expected_downtime import expected_downtime
from headgate.model.downtime import Downtime
from headgate.model.measures import JobMeasure
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.samples import EngineSettings
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import chain, sample

UNSET = AutoscalerOptions()
TOOK = timedelta(seconds=12)
LEARNT = Downtime(expected=TOOK, low=TOOK, high=TOOK, basis="12 rescales of this job")


def expected(
    options: AutoscalerOptions = UNSET,
    *,
    adaptive: bool = True,
    parallelism: int = 2,
    downtime: Downtime | None = None,
    values: Mapping[JobMeasure, float] | None = None,
) -> tuple[float, str]:
    """Give how many seconds a rescale of a job is expected to stop it, and what says so."""
    evaluated = EvaluatedMetrics(vertices={}, backlog=False, coverage=1.0, samples=30, downtime=downtime)
    bare = sample(chain({"source": 1, "agg": parallelism}), settings=EngineSettings(adaptive=adaptive))
    found = expected_downtime(evaluated, replace(bare, values=values or {}), options)
    return found.expected.total_seconds(), found.basis


def test_a_guess_is_larger_the_more_state_each_subtask_loads() -> None:
    """A state that is not known yet counts as none."""
    unknown, small, large, spread = (
        expected(parallelism=parallelism, values=values)[0]
        for parallelism, values in (
            (2, {}),
            (2, {JobMeasure.STATE_SIZE: 1e6}),
            (2, {JobMeasure.STATE_SIZE: 17e9}),
            (20, {JobMeasure.STATE_SIZE: 17e9}),
        )
    )

    assert unknown == 3
    assert small == pytest.approx(3, abs=0.1)
    assert (large, spread) == (103, 13)


def test_a_job_that_has_to_be_submitted_anew_is_guessed_to_stand_still_for_longer() -> None:
    """It stops with a savepoint, and a new one starts from it: the state is written and read."""
    redeployed = AutoscalerOptions(realizer="savepoint-redeploy")

    assert expected(adaptive=False)[0] == expected(redeployed)[0] == 30
    assert expected(redeployed, values={JobMeasure.STATE_SIZE: 17e9})[0] == 230
    assert expected(AutoscalerOptions(realizer="resource-requirements"))[0] == 3


def test_how_long_a_job_stood_still_last_is_better_than_a_guess() -> None:
    """Shorter or longer; but what took longer than a rescale would may have waited for something else."""
    last = JobMeasure.LAST_DOWNTIME

    assert expected(values={last: 1.2}) == (1.2, "its latest restart took 1.2 s, no rescale was measured yet")
    assert expected(values={last: 17.0})[0] == 17
    assert expected(values={last: 3600.0})[0] == 30
    assert expected(values={last: 3600.0, JobMeasure.STATE_SIZE: 17e9})[0] == 103


def test_what_rescales_took_counts_before_what_somebody_has_set_and_that_before_all_else() -> None:
    """A default that is set is meant: five minutes."""
    meant, standstill = AutoscalerOptions(keys_set=("restart.time",)), {JobMeasure.LAST_DOWNTIME: 1.2}

    assert expected(meant, values=standstill, downtime=LEARNT) == (12, "12 rescales of this job")
    assert expected(meant, values=standstill) == (300, "restart.time, no rescale was measured yet")
    assert expected(values=standstill)[0] == 1.2
