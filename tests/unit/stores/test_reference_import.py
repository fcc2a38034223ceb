"""What the reference autoscaler kept of a job becomes the job's past here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.state import DelayedScaleDown, JobState, Wish
from headgate.stores.memory import MemoryStateStore
from headgate.stores.reference_import import Taken, read_reference, take_over
from headgate.stores.reference_state import LARGEST_VALUE, TABLE, read_state

ID, JOB = "a" * 32, JobKey("local", "orders")
MAP, SINK = VertexId("b" * 32), VertexId("c" * 32)
FIRST, SECOND = "2025-06-01T10:00:00.123456Z", "2025-06-01T11:00:00Z"
AT = datetime(2025, 6, 1, 11, tzinfo=UTC)

_METRICS = {
    "TRUE_PROCESSING_RATE": {"current": 90.0, "average": 100.0},
    "EXPECTED_PROCESSING_RATE": {"current": 200.0, "average": "NaN"},
    "LAG": {"current": "NaN", "average": "NaN"},
    "OF_A_LATER_VERSION": {"current": 1.0, "average": 1.0},
}
ROWS: Mapping[str, str] = {
    "scalingHistory": json.dumps(
        {
            MAP: {
                FIRST: {"currentParallelism": 1, "newParallelism": 2, "metrics": _METRICS},
                SECOND: {"currentParallelism": 2, "newParallelism": 4, "metrics": None},
            },
            SINK: {SECOND: {"currentParallelism": 3, "newParallelism": 1, "metrics": {}}},
        }
    ),
    "scalingTracking": json.dumps(
        {"scalingRecords": {FIRST: {"restartDuration": -3.0}, SECOND: {"restartDuration": 12.5}}}
    ),
    "delayedScaleDown": json.dumps(
        {
            "delayedVertices": {
                SINK: {
                    "firstTriggerTime": AT.timestamp(),
                    "recommendedParallelisms": [
                        {"triggerTime": AT.timestamp() + 60, "parallelism": 2, "outsideUtilizationBound": True}
                    ],
                }
            },
            "sourceAssignmentRebalanceVertices": [],
        }
    ),
    "parallelismOverrides": f"{MAP}:4,{SINK}:1",
    "collectedMetrics": "{}",
}


def taken(store: MemoryStateStore, rows: Mapping[str, str] = ROWS) -> Taken:
    """Take one job over."""
    return next(take_over({ID: rows}, {ID: JOB}, store))


def test_the_changes_of_one_instant_are_one_rescale() -> None:
    """The reference keeps them by vertex; the restart stands in another row."""
    first, second = read_state(ID, ROWS).history
    assert (first.before, first.after) == ({MAP: 1}, {MAP: 2})
    assert (second.before, second.after) == ({MAP: 2, SINK: 3}, {MAP: 4, SINK: 1})
    assert (second.at, second.restart) == (AT, timedelta(seconds=12.5))
    assert second.reached_at == AT + timedelta(seconds=12.5)


def test_a_negative_restart_is_none() -> None:
    """The reference measures such where a job is rescaled in place, and counts them as none."""
    assert read_state(ID, ROWS).history[0].restart is None


def test_metrics_are_what_the_reference_decides_by() -> None:
    """The mean, or the latest value where there is no mean; what is unknown here or no number is left out."""
    metrics = read_state(ID, ROWS).history[0].metrics
    assert metrics == {MAP: {ScalingMetric.TRUE_PROCESSING_RATE: 100.0, ScalingMetric.EXPECTED_PROCESSING_RATE: 200.0}}


def test_wishes_to_shrink_keep_their_times() -> None:
    """Instants may be seconds since 1970 as well as text."""
    wish = Wish(at=AT + timedelta(minutes=1), parallelism=2, outside=True)
    assert read_state(ID, ROWS).delayed == {SINK: DelayedScaleDown(first_at=AT, wishes=(wish,))}


def test_a_row_that_cannot_be_read_counts_as_empty_and_is_told() -> None:
    """As in the reference; the other rows are taken."""
    found = read_state(ID, {**ROWS, "scalingTracking": "[", "delayedScaleDown": '{"delayedVertices": {"v": {}}}'})
    assert sorted(found.unreadable) == ["delayedScaleDown", "scalingTracking"]
    assert [record.restart for record in found.history] == [None, None]


def test_a_value_that_is_too_large_stays_in_the_database(tmp_path: Path) -> None:
    """It could take all memory, so it counts as empty and is told; the job's other rows are taken (FLINK-40401)."""
    url = f"sqlite:///{tmp_path / 'reference.db'}"
    padded = ROWS["scalingHistory"].ljust(LARGEST_VALUE + 1)
    with sqlite3.connect(tmp_path / "reference.db") as database:
        database.execute(f"create table {TABLE} (job_key, state_type, state_value)")
        rows = {**ROWS, "scalingHistory": padded, "scalingTracking": ROWS["scalingTracking"].ljust(LARGEST_VALUE)}
        database.executemany(f"insert into {TABLE} values (?, ?, ?)", [(ID, *row) for row in rows.items()])  # noqa: S608

    found = read_reference(url)[ID]

    assert found["scalingHistory"] is None
    told = read_state(ID, found)
    assert told.unreadable == {"scalingHistory": "it is larger than 20 MB"}
    assert set(told.delayed) == {SINK}
    assert read_state(ID, {"scalingHistory": padded}) == read_state(ID, {"scalingHistory": None})


def test_a_value_that_is_nested_too_deeply_is_told() -> None:
    """It breaks no import either."""
    assert read_state(ID, {"scalingHistory": "[" * 100_000}).unreadable.keys() == {"scalingHistory"}


def test_a_job_gets_its_past() -> None:
    """It is in the state, where decisions look, and in the history, where people do."""
    store = MemoryStateStore()
    told = taken(store)
    state = store.load(JOB).state
    assert [record.after for record in state.history] == [{MAP: 2}, {MAP: 4, SINK: 1}]
    assert set(state.delayed) == {SINK}
    assert store.history(JOB, AT) == state.history[1:]
    assert told.taken == ("2 rescales", "1 measured restarts", "1 vertices that wait to shrink")
    assert told.left == (
        "parallelismOverrides: the cluster runs at it, and Headgate goes by what runs",
        "collectedMetrics: the window fills by itself",
    )


def test_nothing_is_taken_twice() -> None:
    """Not even what the state has dropped since then: the history still knows it."""
    store = MemoryStateStore()
    taken(store)
    store.save(JOB, JobState(), 1)
    again = taken(store)
    assert store.load(JOB).version == 2
    assert again.taken == ()
    assert again.left[0] == "2 rescales: taken before"


def test_nothing_is_overwritten() -> None:
    """A job that Headgate has looked after keeps its state; only its past grows."""
    store = MemoryStateStore()
    own = read_state("own", ROWS).history[1]
    store.save(JOB, JobState(history=(own,)), 0)
    told = taken(store)
    state = store.load(JOB).state
    assert [record.at for record in state.history] == sorted(record.at for record in state.history)
    assert own in state.history
    assert state.delayed == {}
    assert "delayedScaleDown: Headgate knows the job already and counts its own" in told.left


def test_a_job_that_nobody_named_is_passed_over() -> None:
    """A job id says nothing about which job it is."""
    store = MemoryStateStore()
    (told,) = take_over({ID: ROWS}, {}, store)
    assert (told.job, told.left) == (None, ("nobody said which job it is",))
    assert store.load(JOB).version == 0
