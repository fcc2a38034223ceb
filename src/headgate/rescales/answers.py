"""Reads the instants of a rescale out of what a cluster answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.errors import RefusedError
from headgate.rescales.phases import SubtaskTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A checkpoint or savepoint that a job was, or can be, restored from."""

    path: str
    begun_ms: int
    complete_ms: int
    state_bytes: int

    @property
    def duration_s(self) -> float:
        """From the trigger to the last acknowledgement."""
        return (self.complete_ms - self.begun_ms) / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """When the adaptive scheduler ended a job's tasks, in milliseconds."""

    stopping_ms: int
    stopped_ms: int


def read_savepoint(checkpoints: Mapping[str, Any]) -> Snapshot | None:
    """Read the latest savepoint of `/jobs/:id/checkpoints`."""
    savepoint = checkpoints["latest"].get("savepoint")
    return _snapshot(savepoint) if savepoint else None


def read_restored(checkpoints: Mapping[str, Any]) -> Snapshot:
    """
    Read the checkpoint that a job in place was restored from: it is in the history for some more checkpoints.

    Raises:
        RefusedError: it is not: the job went back to a savepoint, or further than to its latest checkpoint.
    """
    restored = checkpoints["latest"].get("restored") or {}
    for known in checkpoints["history"]:
        if known["id"] == restored.get("id"):
            return _snapshot(known)
    message = f"the job was not restored from a checkpoint that it lists, but from {restored.get('external_path')}"
    raise RefusedError(message)


def _snapshot(checkpoint: Mapping[str, Any]) -> Snapshot:
    return Snapshot(
        path=checkpoint["external_path"],
        begun_ms=checkpoint["trigger_timestamp"],
        complete_ms=checkpoint["latest_ack_timestamp"],
        state_bytes=checkpoint["state_size"],
    )


def read_rescale(history: Sequence[Mapping[str, Any]], since_ms: int) -> str | None:
    """Read the id of the rescale that was completed since, from `/jobs/:id/rescales/history`."""
    done = [
        each
        for each in history
        if each["terminalState"] == "COMPLETED" and (each["endTimestampInMillis"] or 0) >= since_ms
    ]
    latest = max(done, key=lambda each: each["endTimestampInMillis"], default=None)
    return latest["rescaleUuid"] if latest else None


def read_restart(details: Mapping[str, Any]) -> Restart:
    """Read when the tasks were ended, from `/jobs/:id/rescales/details/:uuid`."""
    states = {state["state"]: state for state in details["schedulerStates"]}
    restarting = states["Restarting"]
    return Restart(
        stopping_ms=restarting["enterTimestampInMillis"],
        stopped_ms=restarting["leaveTimestampInMillis"],
    )


def read_subtasks(times: Mapping[str, Any]) -> list[SubtaskTimes]:
    """Read when each subtask came into each state, from `/jobs/:id/vertices/:vid/subtasktimes`."""
    return [subtask["timestamps"] for subtask in times["subtasks"]]
