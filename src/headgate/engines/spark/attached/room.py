"""How many executors a standalone cluster has room for, by its master's books: what reactive mode may use."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pyspark.sql import SparkSession

from headgate.engines.spark.application import Executors
from headgate.engines.spark.attached.backend import translated
from headgate.errors import UnreachableError
from headgate.http_client import opener_for
from headgate.model.samples import JobSample

Told = Mapping[str, Any]
Fetch = Callable[[str], Told]

_PATIENCE_S = 5
"""How long the master may take to answer; one that fails over does not answer at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """What a live worker has left."""

    cores_free: int
    memory_free_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What the master knows of its workers and of this application."""

    workers: Sequence[Worker]
    granted: int
    """Cores that the application holds, also those of executors that are still starting."""
    cores_each: int
    """Of one executor."""
    memory_each_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Executors of one application, other applications and its own limit considered."""

    total: int
    """Those it has, and those it could have more."""
    free: int


class RoomFinder(Protocol):
    """Tells how many executors the cluster has room for."""

    def __call__(self, cores_each: int, /) -> Room | None:
        """
        Look now, for executors of so many cores; None where the cluster does not tell.

        Raises:
            TransientError: no usable answer.
            NotFoundError: the application is gone.
        """


def fetch_json(url: str) -> Told:
    """
    Read what a page tells programs.

    Raises:
        OSError: it does not answer.
        ValueError: it is no JSON.
    """
    with opener_for(url).open(url, timeout=_PATIENCE_S) as answer:
        told: Told = json.load(answer)
    return told


def books_of(told: Told, application: str, cores_each: int) -> Books | None:
    """
    Read a master's page; None where it does not name the application.

    Args:
        told: its `/json/`.
        application: its id.
        cores_each: cores of one executor.
    """
    ours = next((one for one in told["activeapps"] if one["id"] == application), None)
    if ours is None:
        return None
    return Books(
        workers=[_worker(each) for each in told["workers"] if each["state"] == "ALIVE"],
        granted=ours["cores"],
        cores_each=cores_each,
        memory_each_mb=ours["memoryperexecutor"],
    )


def room_in(books: Books, most_cores: int | None) -> Room:
    """
    Count executors that fit: each worker holds whole ones only.

    Args:
        books: of the master.
        most_cores: that the application may ever have (`spark.cores.max`); None: any number.
    """
    held = books.granted // books.cores_each
    free = sum(_fitting(worker, books) for worker in books.workers)
    if most_cores is not None:
        free = max(0, min(free, most_cores // books.cores_each - held))
    return Room(total=held + free, free=free)


def room_finder(session: SparkSession) -> RoomFinder:
    """Give what tells the room of this session's cluster; only a standalone master tells of any."""
    context: Any = session.sparkContext
    with translated():
        backend = context._jsc.sc().schedulerBackend().getClass().getSimpleName()  # noqa: SLF001
    return MasterBooks(session) if backend == "StandaloneSchedulerBackend" else _nobody_knows


class MasterBooks:
    """
    Reads what the master tells programs on its web pages.

    No application knows where those are: the master is asked for their port in its own tongue, over the connection that
    the application has. What it answers there of its workers would be without what they have left.
    """

    def __init__(self, session: SparkSession, fetch: Fetch = fetch_json) -> None:
        """
        Find the masters.

        Raises:
            TransientError: the application is not connected to any.
        """
        self._context: Any = session.sparkContext
        self._fetch = fetch
        self._pages: dict[str, str] = {}
        with translated():
            backend = self._context._jsc.sc().schedulerBackend()  # noqa: SLF001 - PySpark's only way to the scheduler
            self._masters = [url.removeprefix("spark://") for url in _field(backend, "masters")]
            self._network = _field(_field(backend, "client"), "rpcEnv")

    def __call__(self, cores_each: int, /) -> Room | None:
        """Look into the books of the active master; None while there is none, or it does not know us yet."""
        told = (self._told_by(master) for master in self._masters)
        active = next((each for each in told if each and each["status"] == "ALIVE"), None)
        books = books_of(active, self._context.applicationId, cores_each) if active else None
        most = self._context.getConf().get("spark.cores.max")
        return room_in(books, int(most) if most else None) if books else None

    def _told_by(self, master: str) -> Told | None:
        try:
            return self._fetch(self._page_of(master))
        except (OSError, ValueError, UnreachableError):
            self._pages.pop(master, None)  # it may come back at another port
            return None

    def _page_of(self, master: str) -> str:
        if master not in self._pages:
            host, _, port = master.rpartition(":")
            with translated():
                self._pages[master] = f"http://{host}:{self._web_port(host, int(port))}/json/"
        return self._pages[master]

    def _web_port(self, host: str, port: int) -> int:
        jvm = self._context._jvm  # noqa: SLF001
        question = _module(jvm, "org.apache.spark.deploy.master.MasterMessages$BoundPortsRequest$")
        seconds = jvm.java.util.concurrent.TimeUnit.SECONDS
        patience = jvm.scala.concurrent.duration.FiniteDuration(_PATIENCE_S, seconds)
        limit = jvm.org.apache.spark.rpc.RpcTimeout(patience, "headgate.room")
        any_answer = _module(jvm, "scala.reflect.ClassTag$").Any()
        master = self._network.setupEndpointRef(jvm.org.apache.spark.rpc.RpcAddress(host, port), "Master")
        answered: int = master.askSync(question, limit, any_answer).webUIPort()
        return answered


def with_room(sample: JobSample, room: Room | None, executors: Executors) -> JobSample:
    """Let the slots of a sample be those that the application could have; unknown where the cluster does not tell."""
    if room is None:
        return replace(sample, slots_total=None, slots_free=None)
    each = executors.slots_each
    return replace(sample, slots_total=room.total * each, slots_free=room.free * each)


def _nobody_knows(_cores_each: int, /) -> Room | None:
    return None


def _worker(told: Told) -> Worker:
    return Worker(cores_free=told["coresfree"], memory_free_mb=told["memoryfree"])


def _fitting(worker: Worker, books: Books) -> int:
    by_memory = worker.memory_free_mb // books.memory_each_mb if books.memory_each_mb else worker.cores_free
    return min(worker.cores_free // books.cores_each, by_memory)


def _module(jvm: Any, name: str) -> Any:
    return jvm.java.lang.Class.forName(name).getField("MODULE$").get(None)


def _field(owner: Any, name: str) -> Any:
    """Read a private field: reflection over methods fails on classes that need what PySpark does not bring."""
    found = owner.getClass().getDeclaredField(name)
    found.setAccessible(True)
    return found.get(owner)
