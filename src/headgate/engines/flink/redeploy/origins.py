"""Where a job can go on from that no savepoint can be taken of any more, because it fails over again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.overview import ListedJob
from headgate.errors import RefusedError, TransientError
from headgate.model.measures import JobStatus

RETENTION = "execution.checkpointing.externalized-checkpoint-retention"

_NO_PATH = "<checkpoint-not-externally-addressable>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A state that a job can be started from."""

    number: int
    """Flink counts checkpoints and savepoints of a job together, and goes on from the one that it is started from."""
    path: str
    is_savepoint: bool

    def __str__(self) -> str:
        """Say which it is."""
        return f"{'the savepoint' if self.is_savepoint else 'its last checkpoint'} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What becomes of a job's checkpoints when it ends."""

    when_failed: bool
    when_cancelled: bool

    def keeps(self, status: JobStatus) -> bool:
        """Tell whether those of a job of this status are there when it is started again."""
        return self.when_failed if status is JobStatus.FAILED else self.when_cancelled


async def origin_of(client: FlinkClient, job: ListedJob) -> Origin:
    """
    Find what a job completed last, or else what it began with: anything older would undo what it has done since.

    A job that has not ended is about to be cancelled.

    Raises:
        RefusedError: that is nowhere, or will not outlive the job.
        TransientError: the job tells nothing just now, as between two attempts to run.
    """
    path = f"/jobs/{job.job_id}/checkpoints"
    found = await client.get(path, read_origin)
    if found is None and not job.status.is_over:
        message = f"{job.job_id}, which cannot be stopped with a savepoint, does not tell of its checkpoints now"
        raise TransientError(message)
    if found is None or found.path == _NO_PATH:
        message = f"{job.job_id} cannot be stopped with a savepoint, and has no checkpoint to go back to"
        raise RefusedError(message)
    if not found.is_savepoint and not (await client.get(f"{path}/config", read_retention)).keeps(job.status):
        message = (
            f"{job.job_id} cannot be stopped with a savepoint, and Flink deletes its checkpoints when it is cancelled. "
            f"Hint: set {RETENTION} to RETAIN_ON_CANCELLATION"
        )
        raise RefusedError(message)
    return found


def read_origin(answer: Any) -> Origin | None:
    """Read the newest of the checkpoints and savepoints that `/jobs/:id/checkpoints` tells of; None for none."""
    latest = [answer["latest"].get(name) for name in ("completed", "savepoint", "restored")]
    told = (
        Origin(number=int(each["id"]), path=each["external_path"], is_savepoint=bool(each["is_savepoint"]))
        for each in latest
        if each and not each.get("discarded")
    )
    return max(told, key=lambda origin: origin.number, default=None)


def read_retention(answer: Any) -> Retention:
    """Read `/jobs/:id/checkpoints/config`."""
    kept = answer["externalization"]
    enabled = bool(kept["enabled"])
    return Retention(when_failed=enabled, when_cancelled=enabled and not kept["delete_on_cancellation"])
