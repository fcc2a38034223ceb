"""Makes one rescale and divides its time: Flink's own timestamps wherever it has one, looks elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from uuid import uuid4

from headgate.errors import PermanentError, RefusedError
from headgate.rescales.answers import (
    Snapshot,
    read_rescale,
    read_restart,
    read_restored,
    read_savepoint,
    read_subtasks,
)
from headgate.rescales.backlog import Outlet, now_ms, outlet
from headgate.rescales.cells import Kind, Move
from headgate.rescales.job import MeasuredJob, await_running
from headgate.rescales.phases import Instants, Phases, SubtaskTimes, last_to_run, split
from headgate.rescales.rest import Rest, await_value


@dataclass(slots=True, kw_only=True)
class Stand:
    """What a cluster has of a measured job: right at every moment, so that whoever is interrupted can remove it."""

    job: MeasuredJob
    parallelism: int
    job_id: str = ""
    """Of what runs, or is being started; empty where nothing is."""
    savepoints: list[str] = field(default_factory=list)
    """To be removed when nothing runs from them any more."""

    def start(self, rest: Rest, parallelism: int) -> None:
        """
        Start the job, from its last savepoint if it has one; it may not be running yet.

        Raises:
            UnreachableError: no answer; it may have been started all the same.
            RefusedError: Flink will not.
        """
        # Known before it is asked for: whoever is interrupted meanwhile would not learn it from the answer.
        self.job_id, self.parallelism = uuid4().hex, parallelism
        savepoint = self.savepoints[-1] if self.savepoints else None
        try:
            self.job.start(rest, self.job_id, parallelism=parallelism, savepoint=savepoint)
        except PermanentError:
            self.job_id = ""
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One rescale that was made."""

    at: datetime
    phases: Phases
    snapshot: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """How the tasks of before were ended, and what runs instead."""

    snapshot: Snapshot
    requested_ms: int
    snapshot_begun_ms: int
    stopping_ms: int
    stopped_ms: int
    job: dict[str, Any]
    """What `/jobs/:id` says of it."""


def rescale(rest: Rest, stand: Stand, move: Move) -> Measured:
    """
    Bring a job that keeps up with its load to another parallelism, and wait until it keeps up again.

    Args:
        rest: the cluster's.
        stand: is told at once what becomes of the job.
        move: from the parallelism that it has.

    Raises:
        TransientError: a step took too long, or there was no answer.
        RefusedError: Flink will not.
    """
    usual = _outlet(rest, stand).usual_lag()
    ending = (_in_place if move.kind is Kind.IN_PLACE else _redeployed)(rest, stand, move.after)
    way_out = outlet(rest, ending.job, move.after, stand.job.spec.epoch)
    first_output = way_out.await_output()
    caught_up = way_out.await_lag(usual, since_ms=ending.stopping_ms)
    initializing, running = last_to_run(_subtasks(rest, ending.job))
    instants = Instants(
        requested=ending.requested_ms,
        snapshot_begun=ending.snapshot_begun_ms,
        stopping=ending.stopping_ms,
        stopped=ending.stopped_ms,
        initializing=initializing,
        running=running,
        first_output=first_output,
        caught_up=caught_up,
    )
    at = datetime.fromtimestamp(ending.requested_ms / 1000, UTC)
    return Measured(at=at, phases=split(instants), snapshot=ending.snapshot)


def _outlet(rest: Rest, stand: Stand) -> Outlet:
    return outlet(rest, rest.get(f"/jobs/{stand.job_id}"), stand.parallelism, stand.job.spec.epoch)


def _in_place(rest: Rest, stand: Stand, parallelism: int) -> _Ending:
    path = f"/jobs/{stand.job_id}"
    bounds = {"parallelism": {"lowerBound": parallelism, "upperBound": parallelism}}
    vertices = rest.get(path)["vertices"]
    requested = now_ms()
    rest.send("PUT", f"{path}/resource-requirements", {vertex["id"]: bounds for vertex in vertices})
    stand.parallelism = parallelism
    job = await_running(rest, stand.job_id, parallelism)
    rescaled = await_value(lambda: read_rescale(rest.get(f"{path}/rescales/history"), requested), "the rescale's id")
    restart = read_restart(rest.get(f"{path}/rescales/details/{rescaled}"))
    snapshot = read_restored(rest.get(f"{path}/checkpoints"))
    return _Ending(
        snapshot=snapshot,
        requested_ms=requested,
        snapshot_begun_ms=restart.stopping_ms,
        stopping_ms=restart.stopping_ms,
        stopped_ms=restart.stopped_ms,
        job=job,
    )


def _redeployed(rest: Rest, stand: Stand, parallelism: int) -> _Ending:
    path = f"/jobs/{stand.job_id}"
    requested = now_ms()
    trigger = rest.send("POST", f"{path}/stop", {"drain": False})["request-id"]
    stand.savepoints.append(await_value(lambda: _location(rest, f"{path}/savepoints/{trigger}"), "the savepoint"))
    stopped = await_value(lambda: rest.get(path)["timestamps"]["FINISHED"] or None, "the job's end")
    stand.start(rest, parallelism)
    job = await_running(rest, stand.job_id, parallelism)
    snapshot = await_value(lambda: read_savepoint(rest.get(f"{path}/checkpoints")), "the savepoint's instants")
    return _Ending(
        snapshot=snapshot,
        requested_ms=requested,
        snapshot_begun_ms=snapshot.begun_ms,
        stopping_ms=snapshot.complete_ms,
        stopped_ms=stopped,
        job=job,
    )


def _location(rest: Rest, path: str) -> str | None:
    answer = rest.get(path)
    operation = answer.get("operation") or {}
    if "failure-cause" in operation:
        message = f"the savepoint failed: {operation['failure-cause']['stack-trace'][:300]}"
        raise RefusedError(message)
    return operation.get("location")


def _subtasks(rest: Rest, job: dict[str, Any]) -> Sequence[SubtaskTimes]:
    times = (rest.get(f"/jobs/{job['jid']}/vertices/{vertex['id']}/subtasktimes") for vertex in job["vertices"])
    return list(chain.from_iterable(map(read_subtasks, times)))
