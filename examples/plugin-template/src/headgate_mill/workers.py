"""Adds and removes the workers of a Mill by writing how many there should be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headgate.errors import RefusedError, UnreachableError
from headgate.ports import Workers

WANTED, WORKER = "workers.wanted", ".worker"


class MillWorkerProvider:
    """
    The Mill's supervisor obeys `workers.wanted`; each worker has a file `NAME.worker` as long as it lives.

    Implements `headgate.ports.ResourceProvider`.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Take `directory`.

        Raises:
            ValueError: it is missing.
        """
        if "directory" not in parameters:
            message = "parameter directory is missing. Hint: the directory of the Mill's supervisor"
            raise ValueError(message)
        self._directory = Path(parameters["directory"])

    async def workers(self) -> Workers:
        """Count the files of the workers."""
        names = tuple(sorted(path.stem for path in self._files() if path.suffix == WORKER))
        return Workers(wanted=self._wanted(), ready=len(names), names=names)

    async def request(self, count: int, /) -> bool:
        """Write the number, unless it is written; the supervisor replaces workers that die."""
        if count < 0:
            message = f"{count} workers cannot be had"
            raise RefusedError(message)
        if self._wanted() == count:
            return False
        draft = self._directory / f"{WANTED}.draft"
        try:
            draft.write_text(str(count))
            draft.replace(self._directory / WANTED)
        except OSError as error:
            message = f"{self._directory / WANTED} cannot be written: {error.strerror}"
            raise UnreachableError(message) from error
        return True

    async def reconfigure(self, settings: Mapping[str, str], /) -> bool:
        """Refuse: a worker of a Mill has no settings."""
        message = f"workers of a Mill have no settings, nor {', '.join(sorted(settings))}"
        raise RefusedError(message)

    async def close(self) -> None:
        """Do nothing: a file is open for the moment of a call."""

    def _wanted(self) -> int:
        names = {path.name for path in self._files()}
        return int((self._directory / WANTED).read_text()) if WANTED in names else 0

    def _files(self) -> tuple[Path, ...]:
        try:
            return tuple(self._directory.iterdir())
        except OSError as error:
            message = f"directory {self._directory} cannot be read: {error.strerror}"
            raise UnreachableError(message) from error
