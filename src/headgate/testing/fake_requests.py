"""What comes in at a fake Flink: requests as they are recorded, and those that Flink refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.testing.fake_job import FakeJob, FakeVertex

_UNSUPPORTED = (
    "<Exception on server side:\njava.lang.UnsupportedOperationException: "
    "The DefaultScheduler does not support changing the parallelism without a job restart."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request that came in, also one that a fault hit."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    at_ms: int
    headers: Mapping[str, str]
    length: int
    """Characters of path and query as they were sent."""


class RefusedRequest(Exception):  # noqa: N818 -- an answer of the server, not an error of this program
    """
    The server says no.

    Attributes:
        status: of the answer.
    """

    def __init__(self, status: int, text: str) -> None:
        """Keep the status; the text is Flink's error line."""
        self.status = status
        super().__init__(text)


def elastic(job: FakeJob) -> FakeJob:
    """Give the job, if its scheduler can change parallelism in place; else refuse as Flink does."""
    if job.scheduler == "Default":
        raise RefusedRequest(500, _UNSUPPORTED)
    return job


def checked_bounds(job: FakeJob, body: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Read the lower and upper bound of every vertex; refuse what Flink refuses."""
    ids = {vertex.id for vertex in job.vertices}
    if missing := sorted(ids - set(body)):
        raise RefusedRequest(400, f"The request is incomplete, missing job vertex {missing} resource requirements.")
    if unknown := sorted(set(body) - ids):
        raise RefusedRequest(400, f"Job vertex {unknown} was not found in the job.")
    bounds = {vertex: each["parallelism"] for vertex, each in body.items()}
    checked = {vertex: (each["lowerBound"], each["upperBound"]) for vertex, each in bounds.items()}
    for vertex in job.vertices:
        _check_bounds(vertex, *checked[vertex.id])
    return checked


def _check_bounds(vertex: FakeVertex, lower: int, upper: int) -> None:
    if upper > vertex.max_parallelism:
        text = f"The newly requested parallelism {upper} for the job vertex {vertex.id} exceeds its maximum parallelism"
        raise RefusedRequest(400, f"{text} {vertex.max_parallelism}.")
    if not 1 <= lower <= upper:
        raise RefusedRequest(400, f"The bounds [{lower}] and [{upper}] for job vertex [{vertex.id}] are no range.")
