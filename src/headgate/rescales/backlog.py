"""How far a running load job is behind its load, and whether anything has come out of it since it was restarted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headgate.rescales.job import COUNTING_VERTEX, RATE_PER_S, SINK_VERTEX
from headgate.rescales.rest import Rest, await_value, vertex_ids

_COUNTED = f"{COUNTING_VERTEX}.countedRecords"
_LOOKS, _LOOK_EVERY_S = 5, 0.1
KEEPING_UP = RATE_PER_S / 2
"""Records by which a job may be behind that keeps up with its load: what REST tells is a moment old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlet:
    """
    A job that runs at a parallelism, seen from behind: what went through, and what should have by now.

    The source's own gauge would not do: a backlog of a second or two is in the buffers behind it.
    """

    rest: Rest
    job_id: str
    parallelism: int
    vertex: str
    """Id of the one that counts; its count is state, and survives every rescale."""
    epoch: datetime
    """When the load began."""

    def lag(self) -> float | None:
        """Return by how many records the job is behind; None while a subtask has said nothing yet."""
        counted = self._counted()
        return None if counted is None else self._due(now_ms()) - counted

    def usual_lag(self) -> float:
        """Return the most by which a job that keeps up is behind, of several looks: they are of differing age."""
        looks = []
        for _ in range(_LOOKS):
            looks.append(await_value(self.lag, f"a look at job {self.job_id}"))
            time.sleep(_LOOK_EVERY_S)
        return max(looks)

    def await_output(self) -> int:
        """Wait until a record of this execution has reached the sink; return when that was seen, in ms."""
        await_value(self._has_output, f"first output of job {self.job_id}")
        return now_ms()

    def await_lag(self, at_most: float, *, since_ms: int | None = None) -> int:
        """
        Wait until the job is hardly behind; return when that was seen, in ms.

        Args:
            at_most: records by which it may be.
            since_ms: what was due then must be through: a count of before a restart would tell of no lag.
        """

        def ask() -> int | None:
            counted, now = self._counted(), now_ms()
            through = counted is not None and (since_ms is None or counted > self._due(since_ms))
            return now if through and counted is not None and self._due(now) - counted <= at_most else None

        return await_value(ask, f"job {self.job_id} catching up")

    def _due(self, at_ms: int) -> float:
        return RATE_PER_S * (at_ms / 1000 - self.epoch.timestamp())

    def _counted(self) -> float | None:
        names = [f"{subtask}.{_COUNTED}" for subtask in range(self.parallelism)]
        answer = self.rest.get(f"/jobs/{self.job_id}/vertices/{self.vertex}/metrics?get={','.join(names)}")
        counts = [float(each["value"]) for each in answer]
        return sum(counts) if len(counts) == self.parallelism else None

    def _has_output(self) -> bool | None:
        return received(self.rest.get(f"/jobs/{self.job_id}")) > 0 or None


def outlet(rest: Rest, job: Mapping[str, Any], parallelism: int, epoch: datetime) -> Outlet:
    """Return the outlet of what `/jobs/:id` tells of."""
    vertex = vertex_ids(job)[COUNTING_VERTEX]
    return Outlet(rest=rest, job_id=job["jid"], parallelism=parallelism, vertex=vertex, epoch=epoch)


def received(job: Mapping[str, Any]) -> int:
    """Read how many records the sink took since the restart, from `/jobs/:id`."""
    return sum(vertex["metrics"]["read-records"] for vertex in job["vertices"] if vertex["name"] == SINK_VERTEX)


def now_ms() -> int:
    """Return the wall clock, which Flink's timestamps are of too."""
    return time.time_ns() // 10**6
