"""What adds and removes the workers of a Mill keeps Headgate's contract."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from headgate.testing.conformance.resource_provider import ResourceProviderSuite

from headgate_mill.workers import WANTED, WORKER, MillWorkerProvider


class Supervisor:
    """A directory, and who obeys what stands in it."""

    def __init__(self, directory: Path) -> None:
        """Begin without workers."""
        self.directory = directory
        self.provider = self.restarted()
        self.started = 0

    def restarted(self) -> MillWorkerProvider:
        """Give another provider."""
        return MillWorkerProvider({"directory": str(self.directory)})

    async def lose_worker(self) -> None:
        """End the first one."""
        self._workers()[0].unlink()

    async def run(self) -> None:
        """Start and end workers for as long as it is not cancelled."""
        while True:
            self._obey()
            await asyncio.sleep(0.01)

    def _obey(self) -> None:
        wish, workers = self.directory / WANTED, self._workers()
        wanted = int(wish.read_text()) if wish.exists() else 0
        for surplus in workers[wanted:]:
            surplus.unlink()
        for _ in range(wanted - len(workers)):
            self.started += 1
            (self.directory / f"{self.started}{WORKER}").touch()

    def _workers(self) -> list[Path]:
        return sorted(self.directory.glob(f"*{WORKER}"))


class TestMillWorkerProvider(ResourceProviderSuite):
    """The contract."""

    @pytest.fixture
    async def stage(self, tmp_path: Path) -> AsyncIterator[Supervisor]:
        """Give one with a supervisor at work."""
        supervisor = Supervisor(tmp_path)
        running = asyncio.create_task(supervisor.run())
        yield supervisor
        running.cancel()

    @pytest.fixture
    def broken(self, tmp_path: Path) -> MillWorkerProvider:
        """Give one over a directory that is gone."""
        return MillWorkerProvider({"directory": str(tmp_path / "gone")})
