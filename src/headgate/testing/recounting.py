"""Holds what a load job's source ever emitted against what its stages ever counted, in one consistent cut."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

from headgate.demo.loadjob import ENTRY_CLASS, SOURCE, ConstantProfile, LoadJobSpec
from headgate.engines.flink.local.loopback import call_json

T = TypeVar("T")
_POLL_S = 0.2
_EMITTED, _COUNTED = f"Source__{SOURCE}.emittedRecords", "countedRecords"


def recount(url: str, job_id: str, spec: LoadJobSpec, *, limit: timedelta) -> tuple[str, Mapping[str, int]]:
    """
    Stop a job with a savepoint, start it from there without a load, and read what it knows of all its past.

    Nothing is in flight in a savepoint, so the counts are equal unless a record was lost or counted twice.

    Args:
        url: of the cluster; it still has the job's jar.
        job_id: of the job, which runs.
        spec: with which it was submitted; all of its stages are keyed.
        limit: for each of the two steps.

    Returns:
        The id of the job that runs now, and records by operator.
    """
    savepoint = _await(lambda: _savepoint(url, job_id), limit)
    _await(lambda: call_json(f"{url}/jobs/{job_id}")["state"] == "FINISHED", limit)
    quiet = _start(url, replace(spec, profile=ConstantProfile(per_s=0)), savepoint)
    return quiet, _await(lambda: _counts(f"{url}/jobs/{quiet}", spec), limit)


def _savepoint(url: str, job_id: str) -> str | None:
    """Give where the savepoint is, or None where there was none: a checkpoint may have been in its way."""
    trigger = uuid4().hex
    _send(f"{url}/jobs/{job_id}/stop", {"drain": False, "triggerId": trigger})
    asked = f"{url}/jobs/{job_id}/savepoints/{trigger}"
    while (answer := call_json(asked))["status"]["id"] != "COMPLETED":
        time.sleep(_POLL_S)
    found: str | None = answer["operation"].get("location")
    return found


def _start(url: str, spec: LoadJobSpec, savepoint: str) -> str:
    jar = max(call_json(f"{url}/jars")["files"], key=lambda jar: int(jar["uploaded"]))["id"]
    order = {"entryClass": ENTRY_CLASS, "programArgsList": spec.arguments(), "savepointPath": savepoint}
    return str(_send(f"{url}/jars/{jar}/run", {**order, "parallelism": 1})["jobid"])


def _counts(job: str, spec: LoadJobSpec) -> Mapping[str, int] | None:
    """Read all counts; None before every operator has told its own."""
    vertices = {vertex["name"]: vertex["id"] for vertex in call_json(job)["vertices"]}
    metrics = {SOURCE: (f"Source: {SOURCE}", _EMITTED)} | {
        stage.name: (stage.name, f"{stage.name}.{_COUNTED}") for stage in spec.stages
    }
    found = {}
    for name, (vertex, metric) in metrics.items():
        told: Any = call_json(f"{job}/vertices/{vertices[vertex]}/subtasks/metrics?agg=sum&get={metric}")
        if not told:
            return None
        found[name] = int(float(told[0]["sum"]))
    return found


def _send(url: str, body: Mapping[str, object]) -> Any:
    headers = {"Content-Type": "application/json"}
    return call_json(url, method="POST", body=json.dumps(body).encode(), headers=headers)


def _await(ask: Callable[[], T | None], limit: timedelta) -> T:
    deadline = time.monotonic() + limit.total_seconds()
    while not (found := ask()):
        if time.monotonic() > deadline:
            message = f"not within {limit}"
            raise AssertionError(message)
        time.sleep(_POLL_S)
    return found
