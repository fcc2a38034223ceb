"""How the time of a rescale is divided."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from headgate.rescales.phases import Instants, last_to_run, split

RECORDED = Instants(
    requested=1_795_171_462_433,
    snapshot_begun=1_795_171_466_237,
    stopping=1_795_171_466_237,
    stopped=1_795_171_466_321,
    initializing=1_795_171_466_706,
    running=1_795_171_466_877,
    first_output=1_795_171_467_002,
    caught_up=1_795_171_468_002,
)
"""In place, as a real Flink told it."""


def test_phases_lie_between_the_instants() -> None:
    """In seconds, and nothing of the rescale is left out or counted twice."""
    phases = split(RECORDED)
    assert astuple(phases) == pytest.approx((3.804, 0, 0.084, 0.385, 0.171, 0.125, 1.0))
    assert sum(astuple(phases)) == pytest.approx((RECORDED.caught_up - RECORDED.requested) / 1000)


def test_the_job_is_down_from_the_snapshot_to_the_first_output() -> None:
    """It works while it waits for its checkpoint, and while it catches up."""
    assert split(RECORDED).downtime_s == pytest.approx(0.084 + 0.385 + 0.171 + 0.125)


def test_a_savepoint_is_downtime() -> None:
    """The sources stand still from the moment on that it was begun."""
    redeployed = replace(RECORDED, snapshot_begun=RECORDED.requested + 10)
    phases = split(redeployed)
    assert phases.waiting_s == pytest.approx(0.010)
    assert phases.savepoint_s == pytest.approx(3.794)
    assert phases.downtime_s == pytest.approx(phases.savepoint_s + 0.765)


def test_clocks_that_disagree_make_no_negative_phase() -> None:
    """A record was seen before Flink called the last task running: the output took no time, and nothing is lost."""
    phases = split(replace(RECORDED, first_output=RECORDED.running - 40))
    assert phases.first_output_s == 0
    assert sum(astuple(phases)) == pytest.approx((RECORDED.caught_up - RECORDED.requested) / 1000)


def test_the_subtask_that_runs_last_decides() -> None:
    """Others may have begun and ended their loading before it."""
    early = {"INITIALIZING": 100, "RUNNING": 900}
    late = {"INITIALIZING": 700, "RUNNING": 1000}
    assert last_to_run([late, early]) == (700, 1000)
