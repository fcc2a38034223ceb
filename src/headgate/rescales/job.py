"""The job whose rescales are measured: its state is of a known size, and it has enough to spare to catch up soon."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headgate.demo.loadjob import ENTRY_CLASS, SINK, ConstantProfile, LoadJobSpec, Stage
from headgate.rescales.cells import Backend
from headgate.rescales.rest import Rest, await_value, runs_at

RATE_PER_S = 400.0
"""The load: two fifths of what one subtask manages, so that a backlog is gone in about as long as it took to grow."""

COUNTING_VERTEX, SINK_VERTEX = "count", f"{SINK}: Writer"
_VALUE_BYTES = 10_000
_COST_US = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredJob:
    """What is submitted, and submitted again from a savepoint."""

    jar_id: str
    """Under which the cluster has the load job's jar."""
    spec: LoadJobSpec
    backend: Backend

    def start(self, rest: Rest, job_id: str, *, parallelism: int, savepoint: str | None) -> None:
        """Start it under this id, from a savepoint if there is one; it may not be running yet."""
        order = {
            "jobId": job_id,
            "entryClass": ENTRY_CLASS,
            "programArgsList": self.spec.arguments(),
            "parallelism": parallelism,
            "flinkConfiguration": {
                "state.backend.type": str(self.backend),
                # Of what the hash map does not know; RocksDB would else write all of it at every checkpoint.
                "execution.checkpointing.incremental": "true",
            },
        }
        origin = {"savepointPath": savepoint} if savepoint else {}
        rest.send("POST", f"/jars/{self.jar_id}/run", order | origin)


def measured_job(jar_id: str, state_mb: int, backend: Backend) -> MeasuredJob:
    """Return a job with so much keyed state, in 10**6 bytes, whose load begins now."""
    spec = LoadJobSpec(
        stages=(Stage(name=COUNTING_VERTEX, cost_us=_COST_US, keyed=True),),
        profile=ConstantProfile(per_s=RATE_PER_S),
        epoch=datetime.now(UTC),
        partitions=8,
        state_keys=state_mb * 10**6 // _VALUE_BYTES,
        state_bytes=_VALUE_BYTES if state_mb else 0,
        name="measured",
    )
    return MeasuredJob(jar_id=jar_id, spec=spec, backend=backend)


def await_running(rest: Rest, job_id: str, parallelism: int) -> dict[str, Any]:
    """
    Wait until all of a job runs at a parallelism, and return what `/jobs/:id` says then.

    Raises:
        TransientError: it does not within the limit.
    """

    def ask() -> dict[str, Any] | None:
        job = rest.get(f"/jobs/{job_id}")
        return job if runs_at(job, parallelism) else None

    return await_value(ask, f"job {job_id} at parallelism {parallelism}")
