"""Workers that are TaskManagers of a Flink distribution, processes of this machine."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from subprocess import SubprocessError
from typing import TypeVar

from headgate.engines.flink.local.commands import FAST_START
from headgate.engines.flink.local.java import find_java
from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.runtime import Application, FlinkRuntime
from headgate.errors import PermanentError, RefusedError, UnreachableError
from headgate.ports import Workers
from headgate.providers.folder import Plan, Worker, WorkerFolder
from headgate.providers.parameters import Parameters
from headgate.providers.staffing import Staffing, staff, staying
from headgate.providers.task_managers import Sizes, TaskManagers

T = TypeVar("T")

FOLDER = "workers"
"""Of the directory; what Headgate knows of its workers."""

_PARAMETERS = ("directory", "home", "java", "java-options", "job-jar", "patience")
_PATIENCE = timedelta(seconds=10)


class LocalProcessesProvider:
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
        self._directory = Path(read.required("directory", "the one with Flink's conf folder")).absolute()
        self._home = _checked_home(read.text("home"))
        self._java = read.text("java")
        self._tuning = tuple(shlex.split(read.text("java-options"))) or (() if self._home else FAST_START)
        self._jar = read.text("job-jar")
        self._patience = read.duration("patience", _PATIENCE)
        self._folder = WorkerFolder(self._directory / FOLDER)
        self._sized: tuple[object, Sizes] | None = None

    async def workers(self) -> Workers:
        """
        Count the processes that live and were not asked to end; those that others started are not among them.

        Raises:
            TransientError: the directory cannot be read, or another process is at it.
        """
        return await self._aside(self._count)

    async def request(self, count: int, /) -> bool:
        """
        Start those that are missing, under the lowest free numbers; end those of the highest numbers.

        Raises:
            RefusedError: Flink cannot start one, in its own words; or `count` is below zero.
            TransientError: the directory cannot be read, or another process is at it.
        """
        if count < 0:
            message = f"{count} workers cannot be had"
            raise RefusedError(message)
        return await self._aside(partial(self._arrange, count, {}))

    async def reconfigure(self, settings: Mapping[str, str], /) -> bool:
        """
        Replace all workers at once by ones with these settings; earlier ones that are not named stay.

        They hold for later workers too, over those of `conf`. Nothing is ended when Flink does not want them.

        Raises:
            RefusedError: Flink does not want them, in its own words.
            TransientError: the directory cannot be read, or another process is at it.
        """
        return await self._aside(partial(self._arrange, None, settings))

    async def close(self) -> None:
        """Do nothing: there is no connection, and the workers stay."""

    async def _aside(self, call: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(call)
        except (OSError, SubprocessError) as error:
            message = f"the workers of {self._directory} cannot be told: {error}"
            raise UnreachableError(message) from error

    def _count(self) -> Workers:
        with self._folder.locked():
            wanted, present = self._folder.plan().wanted, staying(self._folder.living())
        names = tuple(worker.name for worker in present)
        return Workers(wanted=len(names) if wanted is None else wanted, ready=len(names), names=names)

    def _arrange(self, count: int | None, settings: Mapping[str, str]) -> bool:
        with self._folder.locked():
            known, living = self._folder.plan(), self._folder.living()
            self._kill_overdue(living)
            wanted = known.wanted if count is None else count
            plan = Plan(wanted=wanted, settings={**known.settings, **settings})
            todo = staff(living, plan)
            self._carry_out(todo, plan)
        return plan != known or bool(todo.ending or todo.starting)

    def _carry_out(self, todo: Staffing, plan: Plan) -> None:
        # First of all, so that settings which Flink does not want end no worker and are not kept.
        sizes = self._sizes(plan.settings) if todo.starting or plan.settings != self._folder.plan().settings else None
        self._folder.keep(plan)
        for worker in todo.ending:
            self._folder.end(worker)
        if sizes is not None:
            for number in todo.starting:
                self._start(Worker(number=number, pid=None, settings=plan.settings), sizes)

    def _start(self, worker: Worker, sizes: Sizes) -> None:
        members = self._task_managers
        words = members.command(worker.name, sizes, worker.settings)
        self._folder.start(worker, words, environment=members.environment, output=members.output(worker.name))

    def _kill_overdue(self, living: Iterable[Worker]) -> None:
        for worker in living:
            if worker.ending_since is not None and time.time() - worker.ending_since > self._patience.total_seconds():
                self._folder.kill(worker)

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
