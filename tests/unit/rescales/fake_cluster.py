"""A cluster in memory, behind the calls that a rescale makes: jobs start, stop and keep up at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headgate.errors import NotFoundError, RefusedError
from headgate.rescales.backlog import now_ms
from headgate.rescales.job import COUNTING_VERTEX, SINK_VERTEX
from headgate.rescales.rest import Rest

Trip = Callable[[str], None]
"""Is told of each call, `GET /jobs/1` for example, after it took effect; may raise instead of its answer."""


@dataclass(frozen=True, kw_only=True)
class FakeCluster(Rest):
    """What there is on the cluster is public; only redeploys are known to it."""

    url: str = "memory"
    trip: Trip = field(default=lambda _: None)
    running: dict[str, int] = field(default_factory=dict)
    """Parallelism by the id of a job."""
    ended: dict[str, str] = field(default_factory=dict)
    """State by the id of a job."""
    savepoints: set[str] = field(default_factory=set)
    started: list[str] = field(default_factory=list)

    def _call(self, method: str, path: str, body: bytes | None = None) -> Any:
        for pattern, answer in _ANSWERS.items():
            if found := re.fullmatch(pattern, f"{method} {path}"):
                answered = answer(self, json.loads(body or b"null"), *found.groups())
                self.trip(f"{method} {path}")
                return answered
        raise NotFoundError(path)

    def run(self, order: dict[str, Any]) -> dict[str, Any]:
        """Start a job, from a savepoint that must be there."""
        if order.get("savepointPath", "") not in {"", *self.savepoints}:
            raise RefusedError(order["savepointPath"])
        self.running[order["jobId"]] = order["parallelism"]
        self.started.append(order["jobId"])
        return {"jobid": order["jobId"]}

    def job(self, job_id: str) -> dict[str, Any]:
        """Tell of a job; one that has ended says nothing of its vertices."""
        if job_id not in self.started:
            raise NotFoundError(job_id)
        running = self.running.get(job_id, 0)
        vertex = {"parallelism": running, "tasks": {"RUNNING": running}, "metrics": {"read-records": 1}}
        return {
            "jid": job_id,
            "state": self.ended.get(job_id, "RUNNING"),
            "timestamps": {"FINISHED": now_ms()},
            "vertices": [vertex | {"id": name, "name": name} for name in (COUNTING_VERTEX, SINK_VERTEX)],
        }

    def end(self, job_id: str, state: str) -> None:
        """End a job that runs."""
        if job_id not in self.running:
            raise RefusedError(job_id)
        del self.running[job_id]
        self.ended[job_id] = state

    def stop(self, job_id: str) -> dict[str, Any]:
        """End a job with a savepoint."""
        self.end(job_id, "FINISHED")
        self.savepoints.add(f"file:/savepoints/{job_id}")
        return {"request-id": "1"}

    def checkpoints(self, job_id: str) -> dict[str, Any]:
        """Tell of a job's savepoint."""
        path = f"file:/savepoints/{job_id}"
        times = {"trigger_timestamp": 1, "latest_ack_timestamp": 2, "state_size": 3}
        return {"latest": {"savepoint": {"external_path": path} | times if path in self.savepoints else None}}


def _counts(asked: str) -> list[dict[str, str]]:
    """More than any load since its beginning, and rising faster."""
    names = asked.split(",")
    return [{"id": name, "value": str(now_ms() / len(names))} for name in names]


_ANSWERS: dict[str, Callable[..., Any]] = {
    r"POST /jars/\w+/run": FakeCluster.run,
    r"GET /jobs/(\w+)": lambda cluster, _, job_id: cluster.job(job_id),
    r"PATCH /jobs/(\w+)\?mode=cancel": lambda cluster, _, job_id: cluster.end(job_id, "CANCELED"),
    r"POST /jobs/(\w+)/stop": lambda cluster, _, job_id: cluster.stop(job_id),
    r"GET /jobs/(\w+)/savepoints/1": lambda _cluster, _, job_id: {
        "operation": {"location": f"file:/savepoints/{job_id}"}
    },
    r"GET /jobs/(\w+)/checkpoints": lambda cluster, _, job_id: cluster.checkpoints(job_id),
    r"GET /jobs/\w+/vertices/\w+/metrics\?get=(.*)": lambda _cluster, _, asked: _counts(asked),
    r"GET /jobs/\w+/vertices/.*/subtasktimes": lambda *_: {
        "subtasks": [{"timestamps": {"INITIALIZING": now_ms(), "RUNNING": now_ms()}}]
    },
    r"POST /savepoint-disposal": lambda cluster, body: cluster.savepoints.remove(body["savepoint-path"]),
}
