"""The rules are not kept by doing nothing: what a job needs it gets, in few steps, or it is said why it cannot."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import given

from headgate.algorithm.explain import explain
from headgate.model.reasons import Reason
from headgate.simulate import Scenario
from headgate.testing.simulated import FEW, STEADY, Steady, starting_at, steadily, steady_jobs
from headgate.testing.watched import watch

LIMITS = {Reason.MAX_PARALLELISM, Reason.DOWNSTREAM_LIMIT}


@FEW
@given(steady=steady_jobs(most=20), catch_up=st.sampled_from([0, 60, 300]))
def test_a_steady_job_comes_to_rest_within_its_band(steady: Steady, catch_up: int) -> None:
    """With linear curves and enough room a job ends within its band, after three rescales at most and no way back."""
    options = replace(STEADY, catch_up_duration=timedelta(seconds=catch_up))
    scenario = steadily(steady[0], autoscaler=options, duration=timedelta(minutes=8))
    simulation = watch(scenario)
    run = simulation.result.job
    assert outside_band(scenario, run.parallelism) == {}
    assert len(run.rescales) <= 3
    assert not any(decision.acts for decision in simulation.decisions[-10:])
    for vertex in run.parallelism:
        assert turns([frame.parallelism[vertex] for frame in run.frames]) <= 1


@FEW
@given(steady=steady_jobs(least=6), most=st.integers(2, 4))
def test_a_job_that_cannot_catch_up_says_so(steady: Steady, most: int) -> None:
    """A job that needs more than it may have grows as far as it may, and its outcomes name the limit for good."""
    job, needs = steady
    job = starting_at(job, dict.fromkeys(needs, 1))
    options = replace(STEADY, max_parallelism=most)
    simulation = watch(steadily(job, autoscaler=options))
    assert max(simulation.result.job.parallelism.values()) == most
    for decision in simulation.decisions[-5:]:
        assert any(limit in "\n".join(explain(decision)) for limit in LIMITS)


def outside_band(scenario: Scenario, parallelism: Mapping[str, int]) -> dict[str, float]:
    """Give the vertices that end busier or idler than their band allows, by the known curves."""
    (job,) = scenario.jobs
    low, high = scenario.autoscaler.utilization_band
    rates = job.needed_rates({job.vertices[0].name: job.vertices[0].load.rate})
    busy = {
        vertex.name: rates[vertex.name] / vertex.capacity_per_s(parallelism[vertex.name]) for vertex in job.vertices
    }
    return {name: share for name, share in busy.items() if share > high or (share < low and parallelism[name] > 1)}


def turns(values: Sequence[int]) -> int:
    """Count how often a series that grew shrinks, or the other way round."""
    moves = [later > earlier for earlier, later in itertools.pairwise(values) if later != earlier]
    return sum(one is not other for one, other in itertools.pairwise(moves))
