"""How far a running load job is behind, and whether anything has come out of it since it was restarted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.demo.loadjob import SOURCE
from headgate.rescales.job import RATE_PER_S, SINK_VERTEX, SOURCE_VERTEX
from headgate.rescales.rest import Rest, await_value, vertex_ids

_PENDING, _EMITTED = f"Source__{SOURCE}.pendingRecords", f"Source__{SOURCE}.emittedRecords"
_NEARLY_NONE = RATE_PER_S / 10
"""Records that may wait in a job that keeps up: a tenth of a second of the load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The source's gauges, summed over its subtasks."""

    pending: float
    emitted: float
    """Position in the source: what a restart sets back, and a rescale carries over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlet:
    """A job that runs at a parallelism, seen from its source and from its sink."""

    rest: Rest
    job_id: str
    parallelism: int
    source: str
    """Vertex id."""

    def backlog(self) -> Backlog | None:
        """Return what the source says; None while a subtask has said nothing yet."""
        names = [f"{subtask}.{name}" for subtask in range(self.parallelism) for name in (_PENDING, _EMITTED)]
        answer = self.rest.get(f"/jobs/{self.job_id}/vertices/{self.source}/metrics?get={','.join(names)}")
        values = {each["id"]: float(each["value"]) for each in answer}
        if set(values) != set(names):
            return None
        total = {name: sum(value for key, value in values.items() if key.endswith(name)) for name in (_PENDING, _EMITTED)}
        return Backlog(pending=total[_PENDING], emitted=total[_EMITTED])

    def await_output(self) -> int:
        """Wait until a record of this execution has reached the sink; return when that was seen, in ms."""
        await_value(self._has_output, f"first output of job {self.job_id}")
        return now_ms()

    def await_level(self, *, past: float = -1.0) -> int:
        """
        Wait until hardly anything waits at the source; return when that was seen first, in ms.

        Args:
            past: position that must be behind it: a gauge of before a restart would tell of no backlog.
        """

        def ask() -> int | None:
            seen = self.backlog()
            return now_ms() if seen and seen.emitted > past and seen.pending <= _NEARLY_NONE else None

        return await_value(ask, f"job {self.job_id} catching up")

    def _has_output(self) -> bool | None:
        job = self.rest.get(f"/jobs/{self.job_id}")
        return received(job) > 0 or None


def outlet(rest: Rest, job: Mapping[str, Any], parallelism: int) -> Outlet:
    """Return the outlet of what `/jobs/:id` tells of."""
    return Outlet(rest=rest, job_id=job["jid"], parallelism=parallelism, source=vertex_ids(job)[SOURCE_VERTEX])


def received(job: Mapping[str, Any]) -> int:
    """Read how many records the sink took since the restart, from `/jobs/:id`."""
    return sum(vertex["metrics"]["read-records"] for vertex in job["vertices"] if vertex["name"] == SINK_VERTEX)


def now_ms() -> int:
    """Return the wall clock, which Flink's timestamps are of too."""
    return time.time_ns() // 10**6
