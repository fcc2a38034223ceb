"""The rules of an open intent, without a loop around them."""

from __future__ import annotations

from datetime import timedelta

from headgate.control.intents import open_intent, time_to_reach
from headgate.control.runner import tick_of, until_next
from headgate.model.decision import Decision, Outcome
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import ORDERS, at, chain, sample


def test_the_limit_follows_from_the_clusters_own_settings() -> None:
    """Stock Flink with a 60 s checkpoint interval: two intervals, cooldown, slot stabilization, restart."""
    stock = EngineSettings(checkpoint_interval_s=60.0, rescale_cooldown_s=30.0, resource_stabilization_s=60.0)

    assert time_to_reach(stock, timedelta(seconds=20)) == timedelta(seconds=230)


def test_the_limit_is_never_so_short_that_a_poll_may_miss_the_change() -> None:
    """A laboratory cluster with no waits at all still gets ten seconds."""
    quick = EngineSettings(checkpoint_interval_s=None, rescale_cooldown_s=0.0, resource_stabilization_s=0.0)

    assert time_to_reach(quick, timedelta()) == timedelta(seconds=10)


def test_the_limit_counts_from_the_request_not_from_the_cycles_begin() -> None:
    """An evaluation that took longer than the engine may take does not make the engine late."""
    running = sample(chain({"source": 1}))
    decision = Decision(
        id="d1", job=ORDERS, at=at(0), outcome=Outcome.RESCALE, reason=Reason.RESCALED, message="", acts=True
    )

    opened = open_intent(JobState(), decision, running, AutoscalerOptions(), late=timedelta(minutes=3))

    limit = time_to_reach(running.settings, AutoscalerOptions().restart_time)
    assert opened.intent is not None
    assert opened.intent.deadline == at(180) + limit


def test_ticks_have_the_same_names_in_every_process() -> None:
    """They lie on multiples of the interval, so that a restart within a tick rewrites its file."""
    interval = timedelta(seconds=10)

    assert tick_of(at(12.5), interval) == at(10)
    assert until_next(at(12.5), interval) == timedelta(seconds=7.5)
    assert until_next(at(10), interval) == interval
