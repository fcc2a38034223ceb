"""A real standalone Spark cluster with workers of one core, on loopback, as long as a `with` lasts."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from headgate.engines.flink.local.java import find_java
from headgate.engines.flink.local.loopback import HOST, call_json, free_ports
from headgate.engines.flink.local.processes import Child, Children
from headgate.engines.spark.local import settings
from headgate.engines.spark.local.application import Application
from headgate.engines.spark.local.archives import fast_start
from headgate.engines.spark.local.groups import end_groups, is_living
from headgate.engines.spark.local.home import find_spark_home, lean_home
from headgate.errors import PermanentError

START_LIMIT = timedelta(seconds=120)
"""For all workers together to register; 10 s are usual."""

_POLL_S = 0.1
_TAIL_LINES = 20
_DEPLOYED = "org.apache.spark.deploy"
_NOTHING: Mapping[str, str] = MappingProxyType({})


class StandaloneCluster:
    """
    A master and some workers as child processes; entering starts them and waits until all have registered.

    Attributes:
        directory: logs, the workers' directories and the applications' output.
        master_url: such as `spark://127.0.0.1:41234`.
        web_url: of the master's pages; `/json/` is what it tells programs.
    """

    def __init__(
        self,
        *,
        workers: int = 1,
        directory: Path | None = None,
        python: Path = settings.THIS_PYTHON,
        java_home: Path | None = None,
    ) -> None:
        """
        Prepare the cluster's directory; nothing is started yet.

        Args:
            workers: how many to start with, of one core and 700 MB each.
            directory: made where needed and kept; by default a temporary one that `close` deletes.
            python: runs the applications; its PySpark is the Spark of the cluster.
            java_home: a Java 17 or newer; found, or fetched, by default.

        Raises:
            PermanentError: that interpreter has no PySpark, or there is no Java.
        """
        self._workers_at_first = workers
        self._temporary = directory is None
        self.directory = (directory or Path(tempfile.mkdtemp(prefix="headgate-spark-"))).absolute()
        self._python = python
        self._spark_home = lean_home(find_spark_home(python))
        java_home = java_home or find_java().home
        self._java_options = fast_start(self._spark_home, java_home=java_home, python=python)
        self._environment = settings.environment(
            spark_home=self._spark_home,
            java_home=java_home,
            python=python,
            directory=self.directory,
            java_options=self._java_options,
        )
        self._children = Children()
        self._master: Child | None = None
        self._workers: list[Child] = []
        self._groups: list[int] = []
        self._applications = 0
        port, web_port = free_ports(2)
        self._ports = (port, web_port)
        self.master_url = f"spark://{HOST}:{port}"
        self.web_url = f"http://{HOST}:{web_port}"
        (self.directory / "tmp").mkdir(parents=True, exist_ok=True)
        self._properties = self.directory / "daemons.properties"
        settings.write_properties(self._properties, settings.DAEMON)

    @property
    def workers(self) -> tuple[int, ...]:
        """The process ids of all workers ever started, in the order of starting; a killed one keeps its place."""
        return tuple(child.process.pid for child in self._workers)

    def __enter__(self) -> Self:
        """
        Start everything and wait until the master counts every worker.

        Raises:
            PermanentError: a process ended, or the time limit was exceeded; the text ends with its log's.
        """
        try:
            self._start_master()
            for _ in range(self._workers_at_first):
                self.add_worker()
            self.await_workers(self._workers_at_first)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        """Close the cluster, whatever happened."""
        self.close()

    def close(self, *, patience: timedelta = timedelta(seconds=5)) -> None:
        """
        End every process, applications too, and delete the directory if it was a temporary one; may be called again.

        Args:
            patience: how long each process may take to end before it is killed.
        """
        self._children.close(patience=patience)
        end_groups(self._groups, patience)
        self._groups.clear()
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def add_worker(self) -> int:
        """Start one more worker, without waiting for it, and return its index."""
        index = len(self._workers)
        size = ("--host", HOST, "--port", "0", "--webui-port", "0", "-c", "1", "-m", "700m")
        place = ("-d", str(self.directory / "work" / f"worker-{index}"), self.master_url)
        self._workers.append(self._start_daemon(f"worker-{index}", f"{_DEPLOYED}.worker.Worker", *size, *place))
        return index

    def kill_worker(self, index: int, which: signal.Signals = signal.SIGKILL) -> None:
        """
        Kill a worker together with its executors, as the loss of a machine would; or only send it a signal.

        Args:
            index: counted from 0 in the order of starting.
            which: SIGKILL is the loss; SIGPWR asks it to decommission its executors, SIGTERM to end.
        """
        worker = self._workers[index]
        if which is not signal.SIGKILL:
            os.kill(worker.process.pid, which)
        elif worker.process.returncode is None:
            self._children.kill(worker)

    def await_workers(self, count: int, *, limit: timedelta = START_LIMIT) -> None:
        """
        Wait until the master counts exactly so many workers.

        Raises:
            PermanentError: the master ended, or the time limit was exceeded; the text ends with its log's.
        """
        deadline = time.monotonic() + limit.total_seconds()
        while self._registered() != count:
            if self._master is None or not self._master.running:
                raise PermanentError(self._failure("the master ended"))
            if time.monotonic() > deadline:
                raise PermanentError(self._failure(f"{self._registered()} instead of {count} workers after {limit}"))
            time.sleep(_POLL_S)

    def status(self) -> Mapping[str, Any]:
        """
        Return what the master tells programs: its workers and applications.

        Raises:
            OSError: it does not answer.
        """
        told: Mapping[str, Any] = call_json(f"{self.web_url}/json/")
        return told

    def run(self, program: Path, *arguments: str, conf: Mapping[str, str] = _NOTHING) -> Application:
        """
        Start a PySpark program whose `SparkSession.builder.getOrCreate()` gives a session on this cluster.

        Args:
            program: a Python file.
            arguments: of the program.
            conf: of Spark, by its own names; it wins over ours.
        """
        self._applications += 1
        name = f"application-{self._applications}"
        properties = self.directory / f"{name}.properties"
        ours = settings.application(self.master_url, self.directory, java_options=self._java_options)
        settings.write_properties(properties, ours | dict(conf))
        command = [str(self._python), str(program), *arguments]
        told = {"PYSPARK_SUBMIT_ARGS": f"--properties-file {shlex.quote(str(properties))} pyspark-shell"}
        return Application(self._start(name, command, told), self._children)

    def _start_master(self) -> None:
        port, web_port = self._ports
        places = ("--host", HOST, "--port", str(port), "--webui-port", str(web_port))
        self._master = self._start_daemon("master", f"{_DEPLOYED}.master.Master", *places)

    def _start_daemon(self, name: str, main_class: str, *arguments: str) -> Child:
        own = ("--properties-file", str(self._properties))
        return self._start(name, [str(self._spark_home / "bin" / "spark-class"), main_class, *own, *arguments])

    def _start(self, name: str, command: Sequence[str], environment: Mapping[str, str] = _NOTHING) -> Child:
        child = self._children.start(
            name,
            command,
            environment={**self._environment, **environment},
            output=self.directory / f"{name}.log",
        )
        # The number of one that is empty may be given to strangers.
        self._groups = [*filter(is_living, self._groups), child.process.pid]
        return child

    def _registered(self) -> int:
        try:
            return int(self.status()["aliveworkers"])
        except (OSError, ValueError, KeyError):
            return -1

    def _failure(self, what: str) -> str:
        log = self.directory / "master.log"
        said = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
        return "\n".join([f"the local Spark cluster: {what}; the end of the master's log:", *said[-_TAIL_LINES:]])
