"""A state store around another one: what is changed leaves a line in a file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.ports import Lease
from headgate.stores.memory import MemoryStateStore


class AuditedStateStore(MemoryStateStore):
    """States in memory, changes on paper. Implements `headgate.ports.StateStore`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Take `path`.

        Raises:
            ValueError: it is missing.
        """
        super().__init__()
        if "path" not in parameters:
            message = "parameter path is missing. Hint: the file to append to"
            raise ValueError(message)
        self._path = Path(parameters["path"])

    def save(self, job: JobKey, state: JobState, expected_version: int, /, *, lease: Lease | None = None) -> int:
        """Save, and note what the job is about to become."""
        version = super().save(job, state, expected_version, lease=lease)
        wanted = dict(state.intent.after) if state.intent else "nothing"
        self._note(f"{job} is at version {version} and wants {wanted}")
        return version

    def forget(self, job: JobKey, /, *, gone_before: datetime | None = None, unused: bool = False) -> bool:
        """Forget, and note it."""
        forgotten = super().forget(job, gone_before=gone_before, unused=unused)
        if forgotten:
            self._note(f"{job} is forgotten")
        return forgotten

    def _note(self, line: str) -> None:
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{datetime.now(UTC).isoformat()} {line}\n")
        except OSError as error:
            message = f"{self._path} cannot be written: {error.strerror}"
            raise UnreachableError(message) from error
