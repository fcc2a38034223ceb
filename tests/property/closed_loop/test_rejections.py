"""Rule 8: a rejected parallelism is not tried again before it expires."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import given

from headgate.simulate import Failure, FailureKind, Scenario
from headgate.testing.simulated import (
    FEW,
    STEADY,
    Steady,
    failures,
    scenarios,
    seconds,
    starting_at,
    steadily,
    steady_jobs,
)
from headgate.testing.watched import Killing, Moment, Request, Save, watch

NO = failures(FailureKind.REFUSAL, FailureKind.TIMEOUT, FailureKind.TASK_MANAGER, lasting=(20, 200))


@FEW
@given(scenario=scenarios(failures=NO))
def test_a_rejected_parallelism_is_not_tried_again(scenario: Scenario) -> None:
    """A rejected parallelism is not tried again before it expires, whatever made it be rejected."""
    simulation = watch(scenario)
    for save in simulation.saves:
        assert [request for request in simulation.requests if forbidden(request, save)] == []


@FEW
@given(steady=steady_jobs(least=4), refused=seconds(60, 120), expiry=seconds(60, 100), killed=st.integers(12, 30))
def test_a_refused_parallelism_is_tried_again_when_its_time_has_come(
    steady: Steady, refused: timedelta, expiry: timedelta, killed: int
) -> None:
    """A rejected parallelism is not tried again before it expires, a kill or not, and once it has, it is."""
    job, needs = steady
    job = starting_at(job, dict.fromkeys(needs, 1))
    refusal = Failure(what=FailureKind.REFUSAL, at=timedelta(), duration=refused)
    options = replace(STEADY, rejection_expiry=expiry)
    scenario = steadily(job, autoscaler=options, failures=(refusal,), duration=timedelta(minutes=6))
    simulation = watch(scenario, Killing({(Moment.OBSERVE, killed)}))
    assert not any(forbidden(request, save) for save in simulation.saves for request in simulation.requests)
    assert any(not request.applied for request in simulation.requests)
    assert simulation.result.job.rescales


def forbidden(request: Request, save: Save) -> bool:
    """Tell whether a request asks for what had been rejected when a state was saved."""
    return request.at > save.at and any(
        rejection.after == request.wanted and request.at < rejection.expires_at for rejection in save.state.rejections
    )
