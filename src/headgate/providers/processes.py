"""Workers that are processes of this machine, as many as are wanted, whatever it is that they run."""

from __future__ import annotations

import asyncio
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from subprocess import SubprocessError
from typing import TypeVar

from headgate.errors import RefusedError, UnreachableError
from headgate.ports import Workers
from headgate.providers.folder import Plan, Worker, WorkerFolder
from headgate.providers.staffing import Staffing, staff, staying

T = TypeVar("T")

FOLDER = "workers"
"""Of the directory; what Headgate knows of its workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What starts one worker."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    output: Path
    """Where what it prints goes, in a folder that exists."""


LaunchOf = Callable[[Worker], Launch]


class ProcessesProvider(ABC):
    """
    Starts and ends workers of this machine, and nobody else's.

    They outlive Headgate, which finds them again by a folder in their directory. One that is asked to end is asked more
    firmly by each call that finds it alive after one more patience.
    """

    def __init__(
        self,
        directory: Path,
        *,
        patience: timedelta,
        endings: tuple[signal.Signals, ...] = (signal.SIGTERM, signal.SIGKILL),
    ) -> None:
        """
        Start nothing yet.

        Args:
            directory: of the workers; it is there, the folder in it is made.
            patience: with a worker, for each of the endings.
            endings: what a worker is asked to end by, at first and then.
        """
        self._directory = directory
        self._patience = patience
        self._endings = endings
        self._folder = WorkerFolder(directory / FOLDER)

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
            RefusedError: none can be started, and why; or `count` is below zero.
            TransientError: the directory cannot be read, or another process is at it.
        """
        if count < 0:
            message = f"{count} workers cannot be had"
            raise RefusedError(message)
        return await self._aside(partial(self._arrange, count, {}))

    async def close(self) -> None:  # noqa: B027 - there is no connection to let go of
        """Do nothing: the workers stay."""

    @abstractmethod
    def _prepared(self, settings: Mapping[str, str]) -> LaunchOf:
        """
        Give what starts workers with these settings, once it is known that they can be.

        Raises:
            RefusedError: they cannot.
        """

    async def _aside(self, call: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(call)
        except (OSError, SubprocessError) as error:
            message = f"the workers of {self._directory} cannot be told: {error}"
            raise UnreachableError(message) from error

    def _count(self) -> Workers:
        with self._folder.locked():
            wanted, living = self._folder.plan().wanted, self._folder.living()
            self._urge(living)
        names = tuple(worker.name for worker in staying(living))
        return Workers(wanted=len(names) if wanted is None else wanted, ready=len(names), names=names)

    def _arrange(self, count: int | None, settings: Mapping[str, str]) -> bool:
        with self._folder.locked():
            known, living = self._folder.plan(), self._folder.living()
            self._urge(living)
            wanted = known.wanted if count is None else count
            plan = Plan(wanted=wanted, settings={**known.settings, **settings})
            todo = staff(living, plan)
            self._carry_out(todo, plan)
        return plan != known or bool(todo.ending or todo.starting)

    def _carry_out(self, todo: Staffing, plan: Plan) -> None:
        # First of all, so that settings with which none can be started end no worker and are not kept.
        is_news = plan.settings != self._folder.plan().settings
        launch_of = self._prepared(plan.settings) if todo.starting or is_news else None
        self._folder.keep(plan)
        for worker in todo.ending:
            self._folder.end(worker, self._endings[0])
        if launch_of is not None:
            for number in todo.starting:
                self._start(Worker(number=number, pid=None, settings=plan.settings), launch_of)

    def _start(self, worker: Worker, launch_of: LaunchOf) -> None:
        launch = launch_of(worker)
        self._folder.start(worker, launch.command, environment=launch.environment, output=launch.output)

    def _urge(self, living: Iterable[Worker]) -> None:
        now, patience = time.time(), self._patience.total_seconds()
        for worker in living:
            # One that was never sent a signal was about to be, when this process died.
            if worker.ending_since is not None and (not worker.asked or now - worker.ending_since >= patience):
                self._folder.end(worker, self._endings[min(worker.asked, len(self._endings) - 1)])
