"""What the policy of a job follows from, and what does not fit together."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headgate.algorithm.hpa.settings import Settings
from headgate.options.autoscaler import AutoscalerOptions

MINUTE = timedelta(minutes=1)


def test_the_target_is_the_job_s_own() -> None:
    """One option, whichever evaluator reads it."""
    assert Settings().policy(AutoscalerOptions(utilization_target=0.5)).utilization_target == 0.5


@pytest.mark.parametrize(("minutes", "seconds"), [(15, 300), (6, 300), (4, 180), (1, 0), (0.5, 0)])
def test_the_usual_stabilization_takes_what_the_metric_window_leaves(minutes: float, seconds: float) -> None:
    """Five minutes behind the window of one, or fewer."""
    settings = Settings(window=min(MINUTE, minutes * MINUTE))
    policy = settings.policy(AutoscalerOptions(metrics_window=minutes * MINUTE))
    assert policy.stabilization.scale_down_s == seconds


@pytest.mark.parametrize(
    "settings",
    [
        Settings(scale_down_stabilization_window=5 * MINUTE),
        Settings(scale_up_stabilization_window=5 * MINUTE),
        Settings(window=6 * MINUTE),
    ],
)
def test_windows_that_the_samples_cannot_fill_are_refused(settings: Settings) -> None:
    """A job that would never shrink, never grow or never be decided: better told at once."""
    with pytest.raises(ValueError, match=r"metrics.window is 5 min, too short .* Hint: set it to 6 min or more"):
        settings.policy(AutoscalerOptions(metrics_window=5 * MINUTE))


def test_a_target_of_nothing_is_refused() -> None:
    """Nothing can be divided by it."""
    with pytest.raises(ValueError, match=r"utilization.target is 0; the policy needs one above 0"):
        Settings().policy(AutoscalerOptions(utilization_target=0.0))
