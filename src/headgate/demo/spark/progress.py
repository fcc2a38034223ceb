"""Reads the batches of a running application from its event log, which Spark writes without being asked by any code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

_MARK = "StreamingQueryListener$QueryProgressEvent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A micro-batch that has ended."""

    ended_at: datetime
    duration_s: float
    rows: int
    taken: int
    """Rows of the stream that were taken in by then, since its beginning."""


class EventLog:
    """What is new in the log of the one application that writes into a directory."""

    def __init__(self, directory: Path) -> None:
        """Read nothing yet."""
        self._directory = directory
        self._read_to = 0

    def batches(self) -> list[Batch]:
        """Return the batches that have ended since the last call."""
        path = next(self._directory.iterdir(), None)
        if path is None:
            return []
        with path.open("rb") as log:
            log.seek(self._read_to)
            new, _, _ = log.read().rpartition(b"\n")
        self._read_to += len(new)
        return list(read_batches(new.decode(errors="replace").splitlines()))


def read_batches(lines: Iterable[str]) -> Iterator[Batch]:
    """Give the batches that lines of an event log tell of; triggers without one are passed over."""
    for line in lines:
        if _MARK in line:
            progress = json.loads(line)["progress"]
            if progress["sources"][0]["numInputRows"]:
                yield _read(progress)


def _read(progress: Mapping[str, Any]) -> Batch:
    duration_ms = progress["durationMs"]["triggerExecution"]
    source = progress["sources"][0]
    return Batch(
        ended_at=datetime.fromisoformat(progress["timestamp"]) + timedelta(milliseconds=duration_ms),
        duration_s=duration_ms / 1000,
        rows=source["numInputRows"],
        taken=sum(json.loads(source["endOffset"]).values()),
    )
