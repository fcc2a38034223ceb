"""How a TaskManager of a directory with Flink's configuration is started, its memory divided by Flink itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headgate.engines.flink.local.commands import Jvm, command
from headgate.engines.flink.local.distribution import classpath
from headgate.engines.flink.local.runtime import FlinkRuntime
from headgate.errors import RefusedError, UnreachableError

MAIN_CLASS = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"

_SIZING_CLASS = "org.apache.flink.runtime.util.bash.BashJavaUtils"
_RESULT = "BASH_JAVA_UTILS_EXEC_RESULT:"
_SIZING_LIMIT_S = 60
_QUICK = ("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What a TaskManager's memory makes its JVM and itself be told."""

    options: tuple[str, ...]
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskManagers:
    """Those of one directory."""

    runtime: FlinkRuntime
    directory: Path
    """With `conf`; `log` and `tmp` are made in it."""
    tuning: tuple[str, ...] = ()
    """Options of each JVM, beyond those of its memory."""

    def sizes(self, settings: Mapping[str, str]) -> Sizes:
        """
        Let Flink divide a TaskManager's memory, as its start script does; takes a second.

        Args:
            settings: Flink's own keys, over those of `conf`.

        Raises:
            RefusedError: Flink cannot, in its own words.
            UnreachableError: it gave no answer within a minute.
        """
        words = [*self._sizing(), *_dynamic(settings)]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, timeout=_SIZING_LIMIT_S, env=self.environment
            )
        except subprocess.TimeoutExpired as error:
            message = f"Flink did not divide the memory of a TaskManager within {_SIZING_LIMIT_S} s"
            raise UnreachableError(message) from error
        results = [line.removeprefix(_RESULT) for line in done.stdout.splitlines() if line.startswith(_RESULT)]
        if done.returncode or len(results) != 2:  # noqa: PLR2004 - the JVM's options, and the TaskManager's
            message = f"Flink cannot start a TaskManager of {self.directory}: {_reason(done.stderr)}"
            raise RefusedError(message)
        return Sizes(options=tuple(results[0].split()), arguments=tuple(results[1].split()))

    def command(self, name: str, sizes: Sizes, settings: Mapping[str, str]) -> list[str]:
        """Give the words that start one; its name is its resource id."""
        arguments = (*_dynamic({**settings, "taskmanager.resource-id": name}), *sizes.arguments)
        jvm = Jvm(name=name, main_class=MAIN_CLASS, options=sizes.options, arguments=arguments, tuning=self.tuning)
        return command(jvm, self.runtime, self.directory)

    @property
    def environment(self) -> Mapping[str, str]:
        """What Flink reads of its environment, over this process's own."""
        return os.environ | {
            "FLINK_CONF_DIR": str(self.directory / "conf"),
            "FLINK_LIB_DIR": str(self.runtime.home / "lib"),
            "FLINK_PLUGINS_DIR": str(self.runtime.home / "plugins"),
        }

    def output(self, name: str) -> Path:
        """Give the file for what one prints, in a folder that exists."""
        for part in ("log", "tmp"):
            (self.directory / part).mkdir(exist_ok=True)
        return self.directory / "log" / f"{name}.out"

    def _sizing(self) -> list[str]:
        home = self.runtime.home
        path = f"{classpath(home)}:{home / 'bin' / 'bash-java-utils.jar'}"
        words = [str(self.runtime.java.executable), *_QUICK, "-cp", path, _SIZING_CLASS]
        return [*words, "GET_TM_RESOURCE_PARAMS", "--configDir", str(self.directory / "conf")]


def _dynamic(settings: Mapping[str, str]) -> list[str]:
    return [word for key, value in settings.items() for word in ("-D", f"{key}={value}")]


def _reason(said: str) -> str:
    """Give what a JVM said when it failed, without the names of classes and the places in them."""
    told = [line for line in said.splitlines() if "Exception" in line and not line.startswith("\tat ")]
    return told[0].partition("Exception: ")[2] or told[0] if told else said.strip()[-300:] or "it does not say why"
