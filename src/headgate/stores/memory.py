"""A state store for one process and no longer: tests, `headgate advise`, the simulator."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from headgate.errors import ConflictError
from headgate.model.identity import JobKey
from headgate.model.state import JobState, ScalingRecord, VersionedState


@dataclass(slots=True)
class _Kept:
    """What is held of one job: its state, and every rescale its states ever told of, by decision id."""

    current: VersionedState = field(default_factory=VersionedState)
    records: dict[str, ScalingRecord] = field(default_factory=dict)


class MemoryStateStore:
    """
    Keeps states in a dictionary; they end with the process.

    Safe to call from several threads.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = Lock()
        self._jobs: dict[JobKey, _Kept] = {}

    def load(self, job: JobKey, /) -> VersionedState:
        """Give the job's state; an unknown job has the default state with version 0."""
        with self._lock:
            return self._kept(job).current

    def save(self, job: JobKey, state: JobState, expected_version: int, /) -> int:
        """
        Replace the job's state if it still has the expected version, and remember the rescales in its history.

        Raises:
            ConflictError: the version is another one; nothing was saved.
        """
        with self._lock:
            kept = self._kept(job)
            if kept.current.version != expected_version:
                message = f"the state of job {job} in memory is no longer at version {expected_version}"
                raise ConflictError(message)
            kept.current = VersionedState(state=state, version=expected_version + 1)
            kept.records.update({record.decision_id: record for record in state.history})
            self._jobs[job] = kept
            return kept.current.version

    def forget(self, job: JobKey, /) -> None:
        """Remove all that is kept of the job; an unknown one is no error."""
        with self._lock:
            self._jobs.pop(job, None)

    def history(self, job: JobKey, since: datetime, /) -> tuple[ScalingRecord, ...]:
        """Give the rescales made since then, oldest first, also those the state has dropped meanwhile."""
        with self._lock:
            records = [record for record in self._kept(job).records.values() if record.at >= since]
        return tuple(sorted(records, key=lambda record: (record.at, record.decision_id)))

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    def _kept(self, job: JobKey) -> _Kept:
        return self._jobs.get(job) or _Kept()
