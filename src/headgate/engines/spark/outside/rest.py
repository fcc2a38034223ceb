"""
The master of a standalone cluster, asked over its web pages.

Source of the fields: Spark's `JsonProtocol.writeMasterState`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headgate.engines.flink.client import FlinkClient
from headgate.errors import UnreachableError
from headgate.model.measures import JobStatus
from headgate.options.service import ClusterOptions
from headgate.options.spark import SparkOptions

_ALIVE = "ALIVE"
_STATES = {"RUNNING": JobStatus.RUNNING, "WAITING": JobStatus.STARTING}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedApplication:
    """An application that has not ended."""

    id: str
    name: str
    status: JobStatus
    started_at_ms: int
    executor_mb: int = 0
    """Memory that an executor of it takes; 0: not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSize:
    """What a worker offers."""

    cores: int
    mb: int | None = None
    """None: not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterState:
    """What a master knows of its cluster."""

    applications: tuple[ListedApplication, ...]
    workers: tuple[WorkerSize, ...]
    """Those that are alive and not being decommissioned."""

    def find(self, application: str) -> ListedApplication | None:
        """Give an application by its id; None where it has ended."""
        return next((one for one in self.applications if one.id == application), None)


def open_pages(options: SparkOptions, url: str) -> FlinkClient:
    """Give a client of the master or of a driver; nothing is asked yet. Whoever asks closes it."""
    return FlinkClient(
        ClusterOptions(
            name=options.name,
            url=url,
            headers=options.headers,
            token_file=options.token_file,
            ca_file=options.ca_file,
            request_timeout=options.request_timeout,
            max_calls_in_flight=options.max_calls_in_flight,
        )
    )


async def ask_master(client: FlinkClient) -> MasterState:
    """
    Ask what there is.

    Raises:
        HeadgateError: as `FlinkClient.get` tells.
    """
    return await client.get("/json/", read_master)


def read_master(answer: Any) -> MasterState:
    """
    Read what the master tells programs.

    Raises:
        UnreachableError: it is not the one in charge, or has not recovered yet: what it knows is not all there is.
    """
    status = answer.get("status", _ALIVE)
    if status != _ALIVE:
        message = f"the master is {status}. Hint: unless that passes, name the address of the one that is {_ALIVE}"
        raise UnreachableError(message)
    return MasterState(
        applications=tuple(_application(one) for one in answer["activeapps"]),
        workers=tuple(_worker(one) for one in answer["workers"] if one["state"] == _ALIVE),
    )


def _application(told: Any) -> ListedApplication:
    return ListedApplication(
        id=str(told["id"]),
        name=str(told["name"]),
        status=_STATES.get(told["state"], JobStatus.OTHER),
        started_at_ms=int(told["starttime"]),
        executor_mb=int(told.get("memoryperexecutor") or 0),
    )


def _worker(told: Any) -> WorkerSize:
    memory = told.get("memory")
    return WorkerSize(cores=int(told["cores"]), mb=None if memory is None else int(memory))
