"""The load job of the tests as a simulated one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headgate.demo.loadjob import (
    ConstantProfile,
    LoadJobSpec,
    Profile,
    RampProfile,
    SineProfile,
    Stage,
    StepProfile,
)
from headgate.simulate.loadjob import load_of, simulated_job
from headgate.simulate.oracle import least_parallelism

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
STAGES = (
    Stage(name="a", cost_us=1960, selectivity=0.5, inputs=("source",)),
    Stage(name="b", cost_us=3360, inputs=("source",), keyed=True),
    Stage(name="join", cost_us=1400, inputs=("a", "b")),
)
SPEC = LoadJobSpec(stages=STAGES, profile=ConstantProfile(per_s=500), epoch=EPOCH)


def test_graph_costs_and_rates_are_those_of_the_load_job() -> None:
    """So both need the same parallelism, each by its own arithmetic."""
    job = simulated_job(SPEC, 2)
    assert [(edge.source, edge.target) for edge in job.connections] == [
        ("source", "a"),
        ("source", "b"),
        ("a", "join"),
        ("b", "join"),
        ("join", "sink"),
    ]
    assert job.needed_rates({"source": 500}) == SPEC.input_rates(500)
    assert least_parallelism(job, {"source": 500}, utilization=0.7, most=100) == SPEC.analytic_parallelism(500, 0.7)


@pytest.mark.parametrize(
    "profile",
    [
        ConstantProfile(per_s=5),
        StepProfile(steps=((timedelta(seconds=10), 5.0), (timedelta(seconds=40), 8.0))),
        SineProfile(base_per_s=5, amplitude_per_s=3, period=timedelta(seconds=60)),
        RampProfile(from_per_s=1, to_per_s=9, duration=timedelta(seconds=50)),
    ],
    ids=lambda profile: type(profile).__name__,
)
def test_loads_are_those_of_the_profiles(profile: Profile) -> None:
    """At any time after the epoch."""
    load = load_of(profile)
    for at in (0, 5, 10, 25, 49, 70):
        assert load.rate_per_s(at) == pytest.approx(profile.rate_per_s(timedelta(seconds=at)))


def test_a_skewed_load_job_is_not_simulated() -> None:
    """How hot its hottest subtask is depends on Flink's hash."""
    with pytest.raises(ValueError, match="skewed"):
        simulated_job(LoadJobSpec(stages=STAGES, profile=SPEC.profile, epoch=EPOCH, zipf=1.0), 1)
