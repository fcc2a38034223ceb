"""Reads the answers about savepoints, jars and failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """How far a stop with a savepoint has come."""

    location: str | None = None
    """Where the savepoint is; None while it is being written."""
    failure: str | None = None
    """Why there is none; the job goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """A jar that the cluster has."""

    id: str
    name: str
    uploaded_ms: int


def read_stop(answer: Any) -> Stop:
    """Read `/jobs/:id/savepoints/:trigger`."""
    if answer["status"]["id"] != "COMPLETED":
        return Stop()
    operation = answer["operation"]
    if "location" in operation:
        return Stop(location=operation["location"])
    return Stop(failure=root_cause(operation["failure-cause"]["stack-trace"]))


def read_latest_savepoint(answer: Any) -> tuple[str, int] | None:
    """Read where the latest savepoint of `/jobs/:id/checkpoints` is, and when it was begun; None: there is none."""
    savepoint = answer["latest"].get("savepoint")
    return (savepoint["external_path"], int(savepoint["trigger_timestamp"])) if savepoint else None


def read_completed(answer: Any) -> int:
    """Read how many checkpoints of `/jobs/:id/checkpoints` were completed."""
    return int(answer["counts"]["completed"])


def read_written(answer: Any) -> int:
    """Read how many records all vertices of `/jobs/:id` wrote since their last restart."""
    return sum(int(vertex["metrics"]["write-records"]) for vertex in answer["vertices"])


def read_jars(answer: Any) -> tuple[Jar, ...]:
    """Read `/jars`, the latest upload first."""
    jars = (Jar(id=each["id"], name=each["name"], uploaded_ms=int(each["uploaded"])) for each in answer["files"])
    return tuple(sorted(jars, key=lambda jar: jar.uploaded_ms, reverse=True))


def read_upload(answer: Any) -> str:
    """Read the id that an uploaded jar was given."""
    return str(answer["filename"]).rpartition("/")[2]


def read_job_id(answer: Any) -> str:
    """Read the id of the job that was started."""
    return str(answer["jobid"])


def read_plan(answer: Any) -> frozenset[str]:
    """Read the vertices of a plan, by id."""
    return frozenset(node["id"] for node in answer["plan"]["nodes"])


def read_failure(answer: Any) -> str:
    """Read the latest failure of `/jobs/:id/exceptions`; empty when there is none."""
    entries = answer.get("exceptionHistory", {}).get("entries", [])
    return root_cause(entries[0]["stacktrace"]) if entries else ""


def root_cause(trace: str) -> str:
    """Give the innermost cause of a Java stack trace in one line, without its class, cut at 300 characters."""
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    line = (causes or lines or ["no reason given"])[-1 if causes else 0]
    while ": " in line and "." in line.partition(": ")[0] and " " not in line.partition(": ")[0]:
        line = line.partition(": ")[2]
    return line[:_LONGEST]
