"""Workers of a Spark standalone cluster, processes of this machine."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from headgate.errors import RefusedError
from headgate.providers.folder import Worker
from headgate.providers.parameters import Parameters
from headgate.providers.processes import Launch, LaunchOf, ProcessesProvider

_PARAMETERS = ("directory", "master", "cores", "memory", "home", "java", "host", "patience", "pass-env")
_PATIENCE = timedelta(seconds=30)
_CLASS = "org.apache.spark.deploy.worker.Worker"
_DECOMMISSION = "-Dspark.decommission.enabled=true"
_LOOPBACK = "127.0.0.1"
_HERE = frozenset({_LOOPBACK, "localhost"})
_DAEMON_MEMORY = "256m"
"""Of the Worker's own JVM, unless the environment says otherwise; its executors' comes on top."""


_PASSED = frozenset({"HADOOP_CONF_DIR", "HOME", "JAVA_HOME", "LANG", "PATH", "TMPDIR", "TZ"})
_PASSED_PREFIXES = ("LC_", "SPARK_")
_SECRET = ("CREDENTIAL", "KEY", "PASSWORD", "SECRET", "TOKEN")


class SparkStandaloneProvider(ProcessesProvider):
    """
    Starts Spark Workers of this machine that register with a master, and decommissions those it has started.

    They outlive Headgate, which finds them again by a folder in the directory. One that is asked to end is
    decommissioned: its executors finish their tasks and hand their blocks over. It then waits for nothing, and is
    ended by the first call after its patience. Of Headgate's environment they have what a Worker needs, and no secrets.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Start nothing yet.

        Args:
            parameters: `directory` for what workers write; `master`, `spark://host:7077`; `cores` of each, by default
                1; `memory` of each for executors, by default `1g`; `home` of Spark, by default that of the installed
                pyspark; `java`, the home of a Java, by default that of `JAVA_HOME` or of the path; `host`, the address
                of this machine, by default Spark finds it; `patience` with a worker that is decommissioned, by
                default 30 s; `pass-env`, the names of further variables that they get, by comma.

        Raises:
            ValueError: one of them is missing or makes no sense, or there is something else.
        """
        read = Parameters(parameters, known=_PARAMETERS)
        directory = Path(read.required("directory", "one in which the workers may write")).absolute()
        # Decommissioning is Linux' SIGPWR; elsewhere there is only the end.
        first = getattr(signal, "SIGPWR", signal.SIGTERM)
        patience = read.duration("patience", _PATIENCE)
        super().__init__(directory, patience=patience, endings=(first, signal.SIGTERM, signal.SIGKILL))
        self._master = _checked_master(read.required("master", "its address, spark://host:7077"))
        self._cores = _checked_cores(read.text("cores", "1"))
        self._memory = read.text("memory", "1g")
        self._home = Path(read.text("home")).absolute() if read.text("home") else None
        self._java = read.text("java")
        self._passed = _PASSED.union(name.strip() for name in read.text("pass-env").split(","))
        self._host = read.text("host") or _host_towards(self._master)

    async def reconfigure(self, settings: Mapping[str, str], /) -> bool:
        """
        Refuse: what a worker offers is a parameter.

        Raises:
            RefusedError: always.
        """
        told = ", ".join(sorted(settings)) or "settings"
        message = f"workers of {self._master} are not given {told} while they run. Hint: set `cores` and `memory`"
        raise RefusedError(message)

    def _prepared(self, _settings: Mapping[str, str]) -> LaunchOf:
        home = self._home or _installed_home()
        program = home / "bin" / "spark-class"
        if not program.is_file():
            message = f"there is no {program}. Hint: parameter home names a Spark distribution"
            raise RefusedError(message)
        for part in ("log", "work"):
            (self._directory / part).mkdir(exist_ok=True)
        return partial(self._launch, home)

    def _launch(self, home: Path, worker: Worker) -> Launch:
        command = [str(home / "bin" / "spark-class"), _CLASS, *(("--host", self._host) if self._host else ())]
        command += ["--port", "0", "--webui-port", "0", "--cores", str(self._cores), "--memory", self._memory]
        command += ["--work-dir", str(self._directory / "work" / worker.name), self._master]
        return Launch(
            command=tuple(command),
            environment=self._environment(home),
            output=self._directory / "log" / f"{worker.name}.out",
        )

    def _environment(self, home: Path) -> Mapping[str, str]:
        told = os.environ.get("SPARK_WORKER_OPTS", "")
        own = {"SPARK_HOME": str(home), "SPARK_WORKER_OPTS": f"{told} {_DECOMMISSION}".strip()}
        own |= {"JAVA_HOME": self._java} if self._java else {}
        own |= {"SPARK_LOCAL_IP": self._host} if self._host else {}
        passed = {name: value for name, value in os.environ.items() if name in self._passed or _is_harmless(name)}
        return {"SPARK_DAEMON_MEMORY": _DAEMON_MEMORY, **passed, **own}


def _is_harmless(name: str) -> bool:
    return name.startswith(_PASSED_PREFIXES) and not any(word in name.upper() for word in _SECRET)


def _checked_master(text: str) -> str:
    if not text.startswith("spark://"):
        message = f"parameter master is {text!r}; it begins with spark://"
        raise ValueError(message)
    return text


def _checked_cores(text: str) -> int:
    if not text.isdecimal() or not int(text):
        message = f"parameter cores is {text!r}; it is a whole number above zero"
        raise ValueError(message)
    return int(text)


def _host_towards(master: str) -> str:
    """Stay on loopback where the master is there; else Spark finds an address by itself."""
    return _LOOPBACK if urlsplit(master).hostname in _HERE else ""


def _installed_home() -> Path:
    """
    Find the Spark that comes with pyspark, without loading it.

    Raises:
        RefusedError: it is not installed.
    """
    found = importlib.util.find_spec("pyspark")
    for place in (found.submodule_search_locations if found else None) or ():
        return Path(place)
    message = "pyspark is not installed, and parameter home names no Spark distribution"
    raise RefusedError(message)
