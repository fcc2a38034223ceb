"""The load's rate over time, and how the job is told of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.demo.loadjob import ConstantProfile, FileProfile, Profile, RampProfile, SineProfile, StepProfile

STEPS = StepProfile(steps=((timedelta(), 100.0), (timedelta(seconds=60), 400.0)))
SINE = SineProfile(base_per_s=100, amplitude_per_s=50, period=timedelta(seconds=40))
RAMP = RampProfile(from_per_s=100, to_per_s=300, duration=timedelta(seconds=10))


@pytest.mark.parametrize(
    ("profile", "at_s", "rate"),
    [
        (ConstantProfile(per_s=7), 5, 7),
        (STEPS, 59.9, 100),
        (STEPS, 60, 400),
        (SINE, 0, 100),
        (SINE, 10, 150),
        (SINE, 30, 50),
        (RAMP, 5, 200),
        (RAMP, 11, 300),
    ],
)
def test_rate_at_a_time(profile: Profile, at_s: float, rate: float) -> None:
    """Each profile has the rate that its definition says."""
    assert profile.rate_per_s(timedelta(seconds=at_s)) == pytest.approx(rate)


@pytest.mark.parametrize("profile", [ConstantProfile(per_s=7), STEPS, SINE, RAMP])
def test_nothing_comes_before_the_epoch(profile: Profile) -> None:
    """The load starts at time zero."""
    assert profile.rate_per_s(timedelta(seconds=-1)) == 0


@pytest.mark.parametrize(
    ("profile", "argument"),
    [
        (ConstantProfile(per_s=7), "const:7"),
        (STEPS, "step:0.0=100.0,60.0=400.0"),
        (SINE, "sine:100,50,40.0"),
        (RAMP, "ramp:100,300,10.0"),
    ],
)
def test_argument(profile: Profile, argument: str) -> None:
    """Times are seconds since the epoch, rates records per second."""
    assert profile.argument() == argument


def test_steps_out_of_order_are_refused() -> None:
    """A step that begins before the one in front of it is a mistake."""
    with pytest.raises(ValueError, match="in order of time"):
        StepProfile(steps=((timedelta(seconds=2), 1.0), (timedelta(seconds=1), 2.0)))


def test_a_sine_below_zero_is_refused() -> None:
    """There is no negative rate."""
    with pytest.raises(ValueError, match="would be negative"):
        SineProfile(base_per_s=1, amplitude_per_s=2, period=timedelta(seconds=1))


def test_a_rate_can_be_set_while_the_job_runs(tmp_path: Path) -> None:
    """Nothing comes before the first step; each holds until the next one."""
    profile = FileProfile(path=tmp_path / "load")
    assert profile.rate_per_s(timedelta(seconds=1)) == 0
    profile.set_rate(timedelta(seconds=2), 100.0)
    profile.set_rate(timedelta(seconds=5.5), 40.0)
    rates = [profile.rate_per_s(timedelta(seconds=at)) for at in (1, 2, 5, 6)]
    assert rates == [0, 100, 100, 40]
    assert profile.argument() == f"file:{tmp_path / 'load'}"
