"""How long a restart is expected to take, and who says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from headgate.control.restarts import Restarts
from headgate.model.downtime import Downtime
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.testing.builders import ORDERS, START, chain, context, evaluated, sample

SAMPLE = sample(chain({"source": 2}))
RESTARTED = ScalingRecord(decision_id="d", at=START, before={}, after={}, restart=timedelta(seconds=77))


@dataclass(frozen=True)
class Saying:
    """A model that always says the same: in place the half of it."""

    high: float

    def predict(self, _sample: JobSample, /, *, redeploy: bool) -> Downtime:
        """Predict."""
        high = timedelta(seconds=self.high if redeploy else self.high / 2)
        return Downtime(expected=high / 2, low=high / 4, high=high, basis="told so")


def _restart_s(restarts: Restarts, options: AutoscalerOptions) -> float:
    found = restarts.expecting(context(options=options), SAMPLE, [RESTARTED])
    return found.restart_time.total_seconds()


def test_the_upper_end_is_what_is_expected() -> None:
    """In whole seconds of two digits, never less; and the job's own realizer makes the difference."""
    restarts = Restarts(model=Saying(202.2))

    assert _restart_s(restarts, AutoscalerOptions()) == 110
    assert _restart_s(restarts, AutoscalerOptions(realizer="savepoint-redeploy")) == 210


def test_no_more_than_the_limit_of_tracked_restarts_is_expected() -> None:
    """A model that says hours would never let a job shrink again."""
    assert _restart_s(Restarts(model=Saying(90_000)), AutoscalerOptions()) == 900


@pytest.mark.parametrize(
    "options",
    [AutoscalerOptions(downtime_model_enabled=False), AutoscalerOptions(parity=Parity.REFERENCE)],
    ids=["switched off", "parity"],
)
def test_without_the_model_the_options_say_and_what_was_tracked(options: AutoscalerOptions) -> None:
    """As the reference does it."""
    restarts = Restarts(model=Saying(20))

    assert _restart_s(restarts, options) == 300
    assert _restart_s(restarts, replace(options, restart_time_tracking_enabled=True)) == 77


def test_a_model_that_says_nothing_leaves_the_options_as_they_are() -> None:
    """The very same object."""
    options = AutoscalerOptions()

    assert Restarts().expecting(context(options=options), SAMPLE, []) is options


def test_the_same_expectation_gives_the_same_object() -> None:
    """A job whose options are new would be laid out anew in each cycle, with its whole fleet."""
    restarts, job = Restarts(model=Saying(20)), context(options=AutoscalerOptions())
    first = restarts.expecting(job, SAMPLE, [])

    assert restarts.expecting(job, SAMPLE, []) is first
    restarts.keep_only([ORDERS])
    assert restarts.expecting(job, SAMPLE, []) is first
    restarts.keep_only([])
    assert restarts.expecting(job, SAMPLE, []) is not first


def test_what_was_predicted_is_noted_on_what_was_evaluated() -> None:
    """Deciding reads it there; of a job that is not ready nothing is noted."""
    answer, restarts = evaluated(SAMPLE.topology, {}), Restarts(model=Saying(20))
    noted = restarts.noted(context(), SAMPLE, answer)
    not_ready = NotReady(reason=Reason.STABILIZING, message="")

    assert replace(answer, downtime=Saying(20).predict(SAMPLE, redeploy=False)) == noted
    assert restarts.noted(context(), SAMPLE, not_ready) is not_ready
    assert Restarts().noted(context(), SAMPLE, answer) is answer


def test_what_is_learnt_during_a_cycle_holds_from_the_next_sample_on() -> None:
    """The restart that a window is evaluated with is the one that the decision names."""

    @dataclass
    class Learning:
        high: float = 100.0

        def predict(self, _sample: JobSample, /, *, redeploy: bool) -> Downtime:  # noqa: ARG002 - the port's
            high = timedelta(seconds=self.high)
            return Downtime(expected=high, low=high, high=high, basis="told so")

    model = Learning()
    restarts, ctx = Restarts(model=model), context(options=AutoscalerOptions())
    before = restarts.downtime(ctx, SAMPLE)
    model.high = 50.0

    assert restarts.downtime(ctx, SAMPLE) == before
    later = restarts.downtime(ctx, replace(SAMPLE))
    assert later is not None
    assert later.high == timedelta(seconds=50)
