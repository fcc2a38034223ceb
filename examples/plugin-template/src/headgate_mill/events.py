"""Appends events to a file, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from headgate.errors import UnreachableError
from headgate.model.events import Event


class JsonLinesEventHandler:
    """A file that others may follow. Implements `headgate.ports.EventHandler`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Take `path`.

        Raises:
            ValueError: it is missing.
        """
        if "path" not in parameters:
            message = "parameter path is missing. Hint: the file to append to"
            raise ValueError(message)
        self._path = Path(parameters["path"])
        self._lock = Lock()

    def handle(self, event: Event, /) -> None:
        """Append one line; who reads them knows a second delivery by `key` and `at`."""
        line = json.dumps(
            {
                "at": event.at.isoformat(),
                "type": event.type,
                "reason": event.reason,
                "subject": str(event.subject),
                "message": event.message,
                "key": event.key,
            }
        )
        try:
            with self._lock, self._path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as error:
            message = f"{self._path} cannot be written: {error.strerror}"
            raise UnreachableError(message) from error
