"""The instants of a rescale in what a real Flink answered."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.errors import RefusedError
from headgate.rescales.answers import read_rescale, read_restart, read_restored, read_savepoint, read_subtasks
from headgate.rescales.rest import runs_at

CHECKPOINT: dict[str, Any] = {
    "id": 16,
    "trigger_timestamp": 1_795_171_466_100,
    "latest_ack_timestamp": 1_795_171_466_154,
    "state_size": 1_045_708,
    "external_path": "file:/srv/flink/chk-16",
}


def completed(name: str, ended_ms: int | None, state: str | None = "COMPLETED") -> dict[str, Any]:
    """Return an entry of the history of rescales."""
    return {"rescaleUuid": name, "terminalState": state, "endTimestampInMillis": ended_ms}


def test_the_rescale_that_was_asked_for_is_found() -> None:
    """Not the one before it, not one that was ignored, and not the one that goes on."""
    history = [completed("now", 300), completed("ignored", 310, "IGNORED"), completed("before", 100)]
    history.append(completed("unfinished", None, None))
    assert read_rescale(history, since_ms=200) == "now"
    assert read_rescale(history[1:], since_ms=200) is None


def test_the_tasks_are_ended_while_the_scheduler_restarts() -> None:
    """From its entering that state to its leaving it."""
    states = [
        {"state": "Executing", "enterTimestampInMillis": 1, "leaveTimestampInMillis": 5},
        {"state": "Restarting", "enterTimestampInMillis": 5, "leaveTimestampInMillis": 9},
        {"state": "Executing", "enterTimestampInMillis": 12, "leaveTimestampInMillis": 12},
    ]
    restart = read_restart({"schedulerStates": states})
    assert (restart.stopping_ms, restart.stopped_ms) == (5, 9)


def test_the_checkpoint_that_was_restored_is_found_among_later_ones() -> None:
    """With its size and how long it took."""
    later = CHECKPOINT | {"id": 17, "state_size": 5}
    answer = {"latest": {"restored": {"id": 16}, "completed": later}, "history": [later, CHECKPOINT]}
    snapshot = read_restored(answer)
    assert (snapshot.state_bytes, snapshot.duration_s) == (1_045_708, 0.054)


def test_a_job_that_went_further_back_is_not_measured() -> None:
    """Without a checkpoint in time, Flink goes back to a savepoint, and catching up is of another kind."""
    answer = {"latest": {"restored": {"id": 3, "external_path": "file:/srv/savepoint"}}, "history": [CHECKPOINT]}
    with pytest.raises(RefusedError, match="savepoint"):
        read_restored(answer)


def test_a_savepoint_is_not_there_before_it_is_complete() -> None:
    """Then it tells where it is."""
    assert read_savepoint({"latest": {"savepoint": None}}) is None
    found = read_savepoint({"latest": {"savepoint": CHECKPOINT}})
    assert found is not None
    assert found.path == "file:/srv/flink/chk-16"


def test_a_job_runs_when_every_subtask_does() -> None:
    """A vertex calls itself running as soon as one of them does."""
    vertex = {"status": "RUNNING", "parallelism": 2, "tasks": {"RUNNING": 1, "DEPLOYING": 1}}
    assert not runs_at({"vertices": [vertex]}, 2)
    assert runs_at({"vertices": [vertex | {"tasks": {"RUNNING": 2}}]}, 2)
    assert not runs_at({"vertices": [vertex | {"tasks": {"RUNNING": 2}}]}, 4)


def test_each_subtask_has_its_instants() -> None:
    """By state."""
    times = {"subtasks": [{"subtask": 0, "timestamps": {"RUNNING": 7}}]}
    assert read_subtasks(times) == [{"RUNNING": 7}]
