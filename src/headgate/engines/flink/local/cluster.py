"""A real Flink cluster with the adaptive scheduler, on loopback, as long as a `with` lasts."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from headgate.engines.flink.local.commands import (
    LOG4J,
    Jvm,
    command,
    job_manager,
    task_manager,
)
from headgate.engines.flink.local.loopback import HOST, call_json, free_ports
from headgate.engines.flink.local.processes import Child, Children
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.engines.flink.local.settings import (
    LAB,
    Ports,
    Settings,
    memory_options,
    render,
    required_settings,
)
from headgate.errors import PermanentError

START_LIMIT = timedelta(seconds=90)
"""For all of the cluster together; a tenth of it is usual."""

_POLL_S = 0.1
_LOG_TAIL_LINES = 20
_JOB_MANAGER = "jobmanager"


class LocalCluster:
    """
    One JobManager and some TaskManagers as child processes; entering starts them and waits for every slot.

    Attributes:
        directory: configuration, logs and checkpoints.
        url: the REST address, such as `http://127.0.0.1:41234`; the same after a JobManager's restart.
    """

    def __init__(
        self,
        *,
        runtime: FlinkRuntime,
        task_managers: int = 2,
        slots: int = 2,
        settings: Settings = LAB,
        directory: Path | None = None,
    ) -> None:
        """
        Prepare the cluster's directory; nothing is started yet.

        Args:
            runtime: see `preparation.find_runtime`.
            task_managers: how many to start with.
            slots: of each TaskManager.
            settings: Flink's own keys; they win over what the cluster sets by itself.
            directory: made where needed and kept; by default a temporary one that `close` deletes.
        """
        self._runtime = runtime
        self._temporary = directory is None
        self.directory = (directory or Path(tempfile.mkdtemp(prefix="headgate-flink-"))).absolute()
        self._slots = slots
        self._names = [f"taskmanager-{number}" for number in range(task_managers)]
        self._children = Children()
        self._members: dict[str, Child] = {}
        ports = Ports(**dict(zip(("rest", "rpc", "blob"), free_ports(3), strict=True)))
        self.url = f"http://{HOST}:{ports.rest}"
        merged = required_settings(ports=ports, slots=slots, directory=self.directory) | dict(settings)
        self._memory_options = memory_options(merged)
        self._write_configuration(merged)

    @property
    def pids(self) -> dict[str, int]:
        """The processes that should be running, by name."""
        return {name: child.process.pid for name, child in self._members.items()}

    def __enter__(self) -> Self:
        """
        Start everything and wait until the REST interface counts every slot.

        Raises:
            PermanentError: a process ended, or the time limit was exceeded; the text ends with its log's.
        """
        try:
            self._start_job_manager()
            for name in self._names:
                self._start(task_manager(name, self._memory_options))
            self._await_slots()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the cluster, whatever happened."""
        self.close()

    def close(self, *, patience: timedelta = timedelta(seconds=5)) -> None:
        """
        End every process, and delete the directory if it was a temporary one; may be called again.

        Args:
            patience: how long each process may take to end before it is killed.
        """
        self._children.close(patience=patience)
        self._members.clear()
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def add_task_manager(self) -> str:
        """Start one more, wait for its slots, return its name."""
        name = f"taskmanager-{len(self._names)}"
        self._names.append(name)
        self._start(task_manager(name, self._memory_options))
        self._await_slots()
        return name

    def kill_task_manager(self, number: int) -> None:
        """Kill the TaskManager of this number, in the order of starting from 0 or back from -1, as a crash would."""
        self._children.kill(self._members.pop(self._names[number]))

    def kill_job_manager(self) -> None:
        """Kill the JobManager as a crash would: nobody answers at the cluster's address from then on."""
        self._children.kill(self._members.pop(_JOB_MANAGER))

    def restart_job_manager(self) -> None:
        """
        Kill the JobManager, start one at the same ports, wait until the TaskManagers are back.

        Without high availability its jobs are gone, as on a real cluster.
        """
        self.kill_job_manager()
        self._start_job_manager()
        self._await_slots()

    def _write_configuration(self, settings: Settings) -> None:
        for part in ("conf", "log", "tmp"):
            (self.directory / part).mkdir(parents=True, exist_ok=True)
        (self.directory / "conf" / "config.yaml").write_text(render(settings), encoding="utf-8")
        (self.directory / "conf" / "log4j.properties").write_text(LOG4J, encoding="utf-8")

    def _start_job_manager(self) -> None:
        self._start(job_manager(_JOB_MANAGER, self._runtime.application))

    def _start(self, jvm: Jvm) -> None:
        environment = os.environ | {
            "FLINK_CONF_DIR": str(self.directory / "conf"),
            "FLINK_LIB_DIR": str(self._runtime.home / "lib"),
            "FLINK_PLUGINS_DIR": str(self._runtime.home / "plugins"),
        }
        words = command(jvm, self._runtime, self.directory)
        output = self.directory / "log" / f"{jvm.name}.out"
        self._members[jvm.name] = self._children.start(jvm.name, words, environment=environment, output=output)

    def _await_slots(self) -> None:
        expected = self._slots * (len(self._members) - 1)
        self._await(lambda: self._registered_slots() == expected, f"{expected} slots")

    def _registered_slots(self) -> int:
        try:
            return int(call_json(f"{self.url}/overview")["slots-total"])
        except (OSError, ValueError, KeyError):
            # Refused, or an answer from before the dispatcher is ready.
            return -1

    def _await(self, reached: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + START_LIMIT.total_seconds()
        while not reached():
            for child in self._members.values():
                if not child.running:
                    raise PermanentError(self._failure(child, f"{child.name} ended"))
            if time.monotonic() > deadline:
                late = self._members[_JOB_MANAGER]
                raise PermanentError(self._failure(late, f"no {what} within {START_LIMIT}"))
            time.sleep(_POLL_S)

    def _failure(self, child: Child, what: str) -> str:
        said = [
            line
            for path in (child.output, child.output.with_suffix(".log"))
            if path.exists()
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        ]
        tail = "\n".join(said[-_LOG_TAIL_LINES:])
        return f"the local Flink cluster did not start: {what}; the end of its log:\n{tail}"
