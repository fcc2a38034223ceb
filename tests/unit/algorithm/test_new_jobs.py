"""Jobs that began moments ago, or of which ever more is asked: nothing shrinks on such evidence."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.unit.algorithm.test_weighing import AGG, OPTIONS, decided

from headgate.model.decision import Outcome
from headgate.model.reasons import Reason
from headgate.model.state import JobState, ScalingRecord
from headgate.testing.builders import START


def test_a_new_job_shrinks_nothing() -> None:
    """What its source reads in its first seconds is not yet what comes in; what it lacks it lacks all the same."""
    options = replace(OPTIONS, stabilization_interval=timedelta(seconds=4))
    age = timedelta(seconds=40)

    kept = decided(50.0, running=8, lasted_s=30, options=options, since=START - age)
    grown = decided(800.0, running=1, lasted_s=30, options=options, since=START - age)
    later = decided(50.0, running=8, lasted_s=30, options=options, since=START - age - timedelta(seconds=24))

    assert (kept.outcome, kept.proposals[0].steps[-1].reason) == (Outcome.KEEP, Reason.EVIDENCE_AWAITED)
    assert kept.message == "agg would run at 1 and stays at 8: the job began 40 s ago, less than 64 s; nothing shrinks"
    assert grown.outcome is Outcome.RESCALE
    assert later.targets == {AGG: 1}


def test_a_job_that_was_just_rescaled_is_not_new() -> None:
    """It restarts each time, and its load may fall right after it grew."""
    record = ScalingRecord(at=START - timedelta(seconds=45), decision_id="up", before={AGG: 1}, after={AGG: 8})

    shrunk = decided(
        50.0, running=8, lasted_s=30, since=START - timedelta(seconds=40), state=JobState(history=(record,))
    )

    assert shrunk.outcome is Outcome.RESCALE


def test_nothing_shrinks_while_ever_more_comes_in() -> None:
    """What is too much now may be too little in a minute."""
    kept = decided(50.0, running=8, lasted_s=30, rising=True)

    assert kept.proposals[0].wanted == 8
    assert kept.message == "agg would run at 1 and stays at 8: ever more comes in; nothing shrinks"
    assert decided(800.0, running=1, lasted_s=30, rising=True).outcome is Outcome.RESCALE
