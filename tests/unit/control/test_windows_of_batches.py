"""The window of an application follows its batches: a query that has one a minute is decided for all the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

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
