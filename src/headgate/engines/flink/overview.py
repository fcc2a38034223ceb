"""Reads the answers about a whole cluster: its jobs, its slots, its JobManager's metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.engines.flink.numbers import number
from headgate.model.measures import JobStatus

_STATES = {status.value: status for status in JobStatus if status is not JobStatus.OTHER} | {
    "CREATED": JobStatus.STARTING,
    "INITIALIZING": JobStatus.STARTING,
    "FAILING": JobStatus.RESTARTING,
}

_THERE = frozenset({"total", "running", "finished"})
"""Counts of tasks that are no cause to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJob:
    """One line of a cluster's job list."""

    job_id: str
    name: str
    status: JobStatus
    started_at_ms: int
    ended_at_ms: int | None = None
    """None while it has not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """How many task slots a cluster has, and how many of them are free."""

    total: int
    free: int


def read_jobs(answer: Any) -> tuple[ListedJob, ...]:
    """Read `/jobs/overview`."""
    return tuple(
        ListedJob(
            job_id=job["jid"],
            name=job["name"],
            status=effective_status(job["state"], job["tasks"]),
            started_at_ms=int(job["start-time"]),
            ended_at_ms=end if (end := int(job.get("end-time", -1))) > 0 else None,
        )
        for job in answer["jobs"]
    )


def effective_status(state: str, tasks: Mapping[str, int]) -> JobStatus:
    """Give a job's status; one that Flink calls running is starting until all its tasks run or have finished."""
    status = _STATES.get(state, JobStatus.OTHER)
    missing = any(count for task, count in tasks.items() if task not in _THERE)
    return JobStatus.STARTING if status is JobStatus.RUNNING and missing else status


def read_slots(answer: Any) -> Slots:
    """Read the slots of `/overview`."""
    return Slots(total=int(answer["slots-total"]), free=int(answer["slots-available"]))


def read_names(answer: Any) -> frozenset[str]:
    """Read a list of metric names."""
    return frozenset(entry["id"] for entry in answer)


def read_values(answer: Any) -> dict[str, float | None]:
    """Read a list of metrics with one value each; a text that is no number counts as unknown."""
    return {entry["id"]: _value(entry.get("value")) for entry in answer}


def _value(text: Any) -> float | None:
    try:
        return number(text)
    except ValueError:
        return None
