"""What people read about a job's last rescales."""

from __future__ import annotations

from dataclasses import replace

from headgate.control.recollection import recollection
from headgate.model.identity import VertexId
from headgate.model.rollback import ParallelismBound, Rollback, Run, Side, Trial
from headgate.model.state import Intent, JobState
from headgate.testing.builders import at

V = VertexId("cbc357cc")
NAMES = {V: "agg"}
WELL = Run(job_id="j1", fingerprint="f", parallelism={V: 2})
TRIAL = Trial(decision_id="d1", began_at=at(0), before=WELL, after={V: 4})
WHY = "checker network-memory: 2 failures for want of network buffers since a scale-up"
TAKEN_BACK = Rollback(decision_id="d1", at=at(60), run=replace(WELL, parallelism={V: 4}), target={V: 2}, why=WHY)
BOUND = ParallelismBound(vertex=V, parallelism=4, side=Side.BELOW, expires_at=at(3600), why=WHY)


def test_a_job_without_a_past_has_nothing_to_tell() -> None:
    """Not a line."""
    assert recollection(JobState(), NAMES, at(0)) == ()


def test_a_rescale_under_observation_is_told_with_what_was_seen_of_it() -> None:
    """Wherever it is kept; a vertex that nobody has a name for is called by its id."""
    told = "under observation since 2026-01-01 00:00:00 UTC: decision d1, agg 2 -> 4; the job never ran so yet"
    assert recollection(JobState(trial=TRIAL), NAMES, at(0)) == (told,)
    intent = Intent(
        decision_id="d1",
        decided_at=at(0),
        job_id="j1",
        fingerprint="f",
        before={},
        after={},
        deadline=at(9),
        trial=TRIAL,
    )
    assert recollection(JobState(intent=intent), {}, at(0)) == (told.replace("agg", V),)
    seen = replace(TRIAL, reached_at=at(20), down_since=at(30), memory_raised_at=at(5), takes_back="d0")
    (line,) = recollection(JobState(trial=seen), NAMES, at(40))
    assert line == (
        "under observation since 2026-01-01 00:00:00 UTC: decision d1, agg 2 -> 4; it takes back d0; "
        "more memory was asked for at 2026-01-01 00:00:05 UTC; the job runs so since 2026-01-01 00:00:20 UTC; "
        "it is not running since 2026-01-01 00:00:30 UTC"
    )


def test_a_rollback_is_told_with_its_evidence_its_pause_and_its_bounds() -> None:
    """A bound that has expired is told of no more."""
    state = JobState(rollback=TAKEN_BACK, bounds=(BOUND,))
    rollback, bound = recollection(state, NAMES, at(60))
    assert rollback == (
        f"taken back at 2026-01-01 00:01:00 UTC: decision d1, as {WHY}; back to agg 2; "
        "nothing is scaled until the cluster is restarted"
    )
    assert bound == (f"agg: with 4 subtasks or more the job was sick: {WHY}; remembered until 2026-01-01 01:00:00 UTC")
    later = replace(state, rollback=replace(TAKEN_BACK, paused_until=at(600)))
    (rollback,) = recollection(later, NAMES, at(3600))
    assert rollback.endswith("nothing is scaled until 2026-01-01 00:10:00 UTC")
