"""Where the rescales are made: a cluster of one's own on this machine, or one that is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import MappingProxyType

from headgate.engines.flink.local.cluster import LocalCluster
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import LAB, Settings
from headgate.errors import PermanentError
from headgate.rescales.rest import Rest, reading

CHECKPOINT_INTERVAL_S = 4
TASK_MANAGERS, SLOTS = 2, 4

MEASURING: Settings = MappingProxyType(
    {
        **LAB,
        "execution.checkpointing.interval": f"{CHECKPOINT_INTERVAL_S} s",
        "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout": "0 s",
        # On a busy machine a checkpoint may be late: a rescale that did without would have more to catch up.
        "jobmanager.adaptive-scheduler.rescale-trigger.max-delay": "10 min",
        # What REST tells is at most so old: timestamps are Flink's, but counters are looked at.
        "web.refresh-interval": "50",
        "metrics.fetcher.update-interval": "200",
        # At parallelism 1 one TaskManager holds all of the state, and of the one before until it is collected.
        "taskmanager.memory.task.heap.size": "1700m",
        "taskmanager.memory.managed.size": "512m",
        # Every redeploy loads the job's classes anew.
        "taskmanager.memory.jvm-metaspace.size": "512m",
        # On a busy machine nobody is taken for dead who is only slow.
        "heartbeat.timeout": "50000",
        "pekko.ask.timeout": "60 s",
    }
)
"""A laboratory: everything that only makes one wait is short, and 500 MB of state fit on the heap."""


_DIRECTORIES = {
    "execution.checkpointing.dir": "state.checkpoints.dir",
    "execution.checkpointing.savepoint-dir": "state.savepoints.dir",
}
"""Settings without which no state of 500 MB is kept, each with its name of before Flink 2."""


@contextmanager
def own_cluster(runtime: FlinkRuntime) -> Iterator[Rest]:
    """Run a cluster on this machine for as long as the context lasts."""
    with LocalCluster(runtime=runtime, task_managers=TASK_MANAGERS, slots=SLOTS, settings=MEASURING) as cluster:
        yield Rest(url=cluster.url)


@contextmanager
def existing_cluster(url: str, *, slots: int) -> Iterator[Rest]:
    """
    Use a cluster that is there; leaving does nothing to it.

    Args:
        url: its REST address.
        slots: how many must be free.

    Raises:
        PermanentError: it will not do.
    """
    rest = Rest(url=url.rstrip("/"))
    check_cluster(rest, slots=slots)
    yield rest


@reading()
def check_cluster(rest: Rest, *, slots: int) -> None:
    """
    Ask a cluster whether rescales can be measured on it, before anything is submitted.

    Raises:
        PermanentError: it lacks slots, makes no checkpoints or savepoints, or does not tell what is needed; the text
            says which setting is missing.
    """
    free = rest.get("/overview")["slots-available"]
    if free < slots:
        message = f"{rest.url} has {free} free slots, and {slots} are needed"
        raise PermanentError(message)
    _check_settings(rest.url, {each["key"]: each["value"] for each in rest.get("/jobmanager/config")})


def _check_settings(url: str, settings: Settings) -> None:
    if settings.get("jobmanager.scheduler", "").lower() != "adaptive":
        message = f"{url} has no adaptive scheduler. Hint: jobmanager.scheduler: adaptive"
        raise PermanentError(message)
    if int(settings.get("web.adaptive-scheduler.rescale-history.size", "0")) < 1:
        message = f"{url} keeps no history of rescales. Hint: web.adaptive-scheduler.rescale-history.size: 10"
        raise PermanentError(message)
    if "execution.checkpointing.interval" not in settings:
        message = f"{url} makes no checkpoints. Hint: execution.checkpointing.interval: {CHECKPOINT_INTERVAL_S} s"
        raise PermanentError(message)
    for name, former in _DIRECTORIES.items():
        if not {name, former} & settings.keys():
            message = f"{url} has no {name}, and the job names no directory of its own. Hint: {name}: DIRECTORY"
            raise PermanentError(message)
