"""The window of an application follows its batches: a query that has one a minute is decided for all the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headgate.control.observation import Observation, candidate
from headgate.model.samples import EngineSettings
from headgate.model.state import UNSEEN
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import Candidate
from headgate.testing.builders import START, at, chain, context, sample

OPTIONS = AutoscalerOptions(metrics_window=timedelta(seconds=20), stabilization_interval=timedelta())


def seen(refresh_s: float, *, shared: bool) -> Candidate:
    """Give what is evaluated of a job that has run for an hour and has new values so often."""
    settings = EngineSettings(metric_refresh_s=refresh_s, shared_workers=shared)
    taken = replace(sample(chain({"read": 1}), tick=at(3600), running_since=START), settings=settings)
    known = candidate(Observation(ctx=context(options=OPTIONS), sample=taken), UNSEEN, at(3600))
    assert known
    return known


@pytest.mark.parametrize(("batch_s", "window_s"), [(2.0, 20), (60.0, 120), (300.0, 600)])
def test_the_window_holds_several_batches(batch_s: float, window_s: float) -> None:
    """Two of them, and never less than the options say."""
    known = seen(batch_s, shared=True)
    assert known.options.metrics_window == timedelta(seconds=window_s)
    assert known.window_from == at(3600 - window_s)


def test_the_window_of_any_other_job_is_what_its_options_say() -> None:
    """Its engine tells of it between two refreshes as well."""
    assert seen(60.0, shared=False).options == OPTIONS


def test_the_window_reaches_back_over_a_change_of_workers() -> None:
    """The application ran on meanwhile: what came in before is as true as ever."""
    assert window_from(started_s=0, running_since_s=3590) == at(3580)


def test_the_window_does_not_reach_back_to_an_earlier_start_of_the_application() -> None:
    """Headgate within it may have started with it, and finds in the log what another one wrote under the name."""
    assert window_from(started_s=3585, running_since_s=3590) == at(3585)


def window_from(*, started_s: float, running_since_s: float) -> datetime:
    """Give where the window of an application begins at second 3600, which is 20 s long."""
    taken = sample(chain({"read": 1}), tick=at(3600), running_since=at(running_since_s))
    taken = replace(taken, settings=EngineSettings(metric_refresh_s=2.0, shared_workers=True))
    ctx = replace(context(options=OPTIONS), started_at=at(started_s))
    known = candidate(Observation(ctx=ctx, sample=taken), UNSEEN, at(3600))
    assert known
    return known.window_from
