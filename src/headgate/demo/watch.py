"""
Watches the demo's job through Flink's REST interface, on its own: nothing of what Headgate collects is used.

Blocking; the addresses are on this machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from headgate.demo.loadjob import SINK, SOURCE, LoadJobSpec
from headgate.demo.timeline import Observation
from headgate.engines.flink.local.loopback import call_json

_NAMES = {f"Source: {SOURCE}": SOURCE, f"{SINK}: Writer": SINK}
_EMITTED = f"Source__{SOURCE}.emittedRecords"
_PENDING = f"Source__{SOURCE}.pendingRecords"
_COMPARED_LOOKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vertex:
    id: str
    parallelism: int
    busy_ms: float
    """Of all subtasks together since they started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    at: datetime
    running: bool
    vertices: Mapping[str, _Vertex]
    emitted: float | None = None
    """Position in the source: it survives a rescale, unlike Flink's own counters."""
    pending: float | None = None


class Watcher:
    """Looks at one job; rates are taken over the last few looks, because Flink's numbers may be a second old."""

    def __init__(self, url: str, job_id: str, spec: LoadJobSpec, *, ask: Callable[[str], Any] = call_json) -> None:
        """
        Look at nothing yet.

        Args:
            url: the cluster's REST address.
            job_id: of the submitted load job.
            spec: what was submitted; its profile tells the load that was wanted.
            ask: makes a GET request and returns the JSON; raises `OSError` where there is none.
        """
        self._job = f"{url}/jobs/{job_id}"
        self._spec = spec
        self._ask = ask
        self._looks: deque[_Look] = deque(maxlen=_COMPARED_LOOKS)
        self._lag_records = 0.0

    def look(self, now: datetime) -> Observation | None:
        """Return what is seen now; none if Flink does not answer, or knows no running task yet."""
        try:
            seen = self._source_gauges(_read_job(self._ask(self._job), now))
        except OSError:
            return None
        if not seen.vertices:
            return None
        self._looks.append(seen)
        # Without the gauge, while the job restarts, the last value stands.
        self._lag_records = self._lag_records if seen.pending is None else seen.pending
        return self._observation(self._looks[0], seen)

    def _source_gauges(self, seen: _Look) -> _Look:
        if SOURCE not in seen.vertices:
            return seen
        path = f"vertices/{seen.vertices[SOURCE].id}/subtasks/metrics?agg=sum&get={_EMITTED},{_PENDING}"
        gauges = {each["id"]: float(each["sum"]) for each in self._ask(f"{self._job}/{path}")}
        return replace(seen, emitted=gauges.get(_EMITTED), pending=gauges.get(_PENDING))

    def _observation(self, before: _Look, seen: _Look) -> Observation:
        since_epoch = seen.at - self._spec.epoch
        return Observation(
            at_s=since_epoch.total_seconds(),
            parallelism={name: vertex.parallelism for name, vertex in seen.vertices.items()},
            running=seen.running,
            wanted_per_s=self._spec.profile.rate_per_s(since_epoch),
            processed_per_s=_processed_per_s(before, seen),
            lag_records=self._lag_records,
            busy=_busy(before, seen),
        )


def _read_job(answer: Any, now: datetime) -> _Look:
    tasks = answer["vertices"]
    return _Look(
        at=now,
        running=answer["state"] == "RUNNING" and all(task["status"] == "RUNNING" for task in tasks),
        vertices={
            _NAMES.get(task["name"], task["name"]): _Vertex(
                id=task["id"],
                parallelism=task["parallelism"],
                busy_ms=_number(task["metrics"]["accumulated-busy-time"]),
            )
            for task in tasks
        },
    )


def _processed_per_s(before: _Look, now: _Look) -> float:
    """Return 0 where it is not known, and after a restart, which reads some records again."""
    if before.emitted is None or now.emitted is None:
        return 0.0
    return max(0.0, now.emitted - before.emitted) / _seconds(now.at - before.at)


def _busy(before: _Look, now: _Look) -> Mapping[str, float]:
    """Return the busy share of each vertex that was not started anew in between."""
    wall_ms = 1000 * _seconds(now.at - before.at)
    return {
        name: min(1.0, (vertex.busy_ms - earlier.busy_ms) / wall_ms / vertex.parallelism)
        for name, vertex in now.vertices.items()
        if (earlier := before.vertices.get(name))
        and earlier.parallelism == vertex.parallelism
        and vertex.busy_ms >= earlier.busy_ms
    }


def _number(value: float | str) -> float:
    """Read a number; Flink sends the word NaN for one that it does not know yet."""
    number = float(value)
    return number if number == number else 0.0  # noqa: PLR0124 (NaN alone differs from itself)


def _seconds(passed: timedelta) -> float:
    return max(passed.total_seconds(), 1e-3)
