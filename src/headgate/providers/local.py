"""Workers that are TaskManagers of a Flink distribution, processes of this machine."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path

from headgate.engines.flink.local.commands import FAST_START
from headgate.engines.flink.local.java import find_java
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.runtime import Application, FlinkRuntime
from headgate.errors import PermanentError, RefusedError
from headgate.providers.folder import Worker
from headgate.providers.parameters import Parameters
from headgate.providers.processes import FOLDER, Launch, LaunchOf, ProcessesProvider
from headgate.providers.task_managers import Sizes, TaskManagers

__all__ = ["FOLDER", "LocalProcessesProvider"]

_PARAMETERS = ("directory", "home", "java", "java-options", "job-jar", "patience")
_PATIENCE = timedelta(seconds=10)


class LocalProcessesProvider(ProcessesProvider):
    """
    Starts and ends TaskManagers beside a JobManager of this machine, and nobody else's TaskManagers.

    Its workers outlive Headgate, which finds them again by a folder in the directory. One that is asked to end takes
    its leave of the JobManager; a call that finds it alive after its patience kills it.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Start nothing yet.

        Args:
            parameters: `directory` with Flink's `conf`; `home` of Flink, by default a fetched one; `java`, the home of
                a Java, by default that of `JAVA_HOME` or of the path; `java-options` of each worker, by default none
                for a Flink of one's own, and those of a quick start for the fetched one; `job-jar`, where the cluster
                is that of an application; `patience` with a worker that is asked to end, by default 10 s.

        Raises:
            ValueError: the directory is missing, `home` is no Flink, or there is something else.
        """
        read = Parameters(parameters, known=_PARAMETERS)
        directory = Path(read.required("directory", "the one with Flink's conf folder")).absolute()
        super().__init__(directory, patience=read.duration("patience", _PATIENCE))
        self._home = _checked_home(read.text("home"))
        self._java = read.text("java")
        self._tuning = tuple(shlex.split(read.text("java-options"))) or (() if self._home else FAST_START)
        self._jar = read.text("job-jar")
        self._sized: tuple[object, Sizes] | None = None

    async def reconfigure(self, settings: Mapping[str, str], /) -> bool:
        """
        Replace all workers at once by ones with these settings; earlier ones that are not named stay.

        They hold for later workers too, over those of `conf`. Nothing is ended when Flink does not want them.

        Raises:
            RefusedError: Flink does not want them, in its own words.
            TransientError: the directory cannot be read, or another process is at it.
        """
        return await self._aside(partial(self._arrange, None, settings))

    def _prepared(self, settings: Mapping[str, str]) -> LaunchOf:
        return partial(self._launch, self._sizes(settings))

    def _launch(self, sizes: Sizes, worker: Worker) -> Launch:
        members = self._task_managers
        words = members.command(worker.name, sizes, worker.settings)
        return Launch(command=tuple(words), environment=members.environment, output=members.output(worker.name))

    def _sizes(self, settings: Mapping[str, str]) -> Sizes:
        """Divide the memory again only where something has changed: it takes a second."""
        files = sorted((self._directory / "conf").glob("*.yaml"))
        question = settings, [(file, file.stat().st_mtime_ns) for file in files]
        if self._sized is None or self._sized[0] != question:
            self._sized = question, self._task_managers.sizes(settings)
        return self._sized[1]

    @cached_property
    def _task_managers(self) -> TaskManagers:
        try:
            runtime = self._runtime()
        except PermanentError as error:
            raise RefusedError(str(error)) from error
        return TaskManagers(runtime=runtime, directory=self._directory, tuning=self._tuning)

    def _runtime(self) -> FlinkRuntime:
        environment = {"JAVA_HOME": self._java} if self._java else None
        found = FlinkRuntime(java=find_java(environment), home=self._home) if self._home else find_runtime()
        job = Application(jar=Path(self._jar).absolute(), entry_class="") if self._jar else None
        return replace(found, application=job)


def _checked_home(text: str) -> Path | None:
    home = Path(text).absolute() if text else None
    if home and not any(home.glob("lib/flink-dist-*.jar")):
        message = f"parameter home is {text!r}, where there is no lib/flink-dist-*.jar. Hint: name a Flink distribution"
        raise ValueError(message)
    return home
