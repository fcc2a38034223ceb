"""Where the rescales are made: clusters of one's own on this machine, a new one a round, or one that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType

from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import LAB, Settings
from headgate.errors import PermanentError
from headgate.rescales.rest import Rest

CHECKPOINT_INTERVAL_S = 4
TASK_MANAGERS, SLOTS = 2, 4

MEASURING: Settings = MappingProxyType(
    {
        **LAB,
        "execution.checkpointing.interval": f"{CHECKPOINT_INTERVAL_S} s",
        "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout": "0 s",
        # What REST tells is at most so old: timestamps are Flink's, but counters are looked at.
        "web.refresh-interval": "50",
        "metrics.fetcher.update-interval": "150",
        # At parallelism 1 one TaskManager holds all of the state, and of the one before until it is collected.
        "taskmanager.memory.task.heap.size": "1700m",
        "taskmanager.memory.managed.size": "512m",
        # Every redeploy loads the job's classes anew.
        "taskmanager.memory.jvm-metaspace.size": "320m",
    }
)
"""A laboratory: everything that only makes one wait is short, and 500 MB of state fit on the heap."""

OpenCluster = Callable[[], AbstractContextManager[Rest]]
"""Opens the cluster of a round."""


def own_clusters(runtime: FlinkRuntime) -> OpenCluster:
    """Open a new cluster on this machine each time, so that no round inherits the heap and the classes of another."""

    @contextmanager
    def opened() -> Iterator[Rest]:
        with LocalCluster(runtime=runtime, task_managers=TASK_MANAGERS, slots=SLOTS, settings=MEASURING) as cluster:
            yield Rest(url=cluster.url)

    return opened


def existing_cluster(url: str, *, slots: int) -> OpenCluster:
    """
    Use one cluster that is there, every time; it is checked first.

    Args:
        url: its REST address.
        slots: how many must be free.
    """

    @contextmanager
    def opened() -> Iterator[Rest]:
        rest = Rest(url=url.rstrip("/"))
        _check(rest, slots)
        yield rest

    return opened


def _check(rest: Rest, slots: int) -> None:
    free = rest.get("/overview")["slots-available"]
    if free < slots:
        message = f"{rest.url} has {free} free slots, and {slots} are needed"
        raise PermanentError(message)
    settings = {each["key"]: each["value"] for each in rest.get("/jobmanager/config")}
    if settings.get("jobmanager.scheduler", "").lower() != "adaptive":
        message = f"{rest.url} has no adaptive scheduler. Hint: jobmanager.scheduler: adaptive"
        raise PermanentError(message)
    if int(settings.get("web.adaptive-scheduler.rescale-history.size", "0")) < 1:
        message = f"{rest.url} keeps no history of rescales. Hint: web.adaptive-scheduler.rescale-history.size: 10"
        raise PermanentError(message)
