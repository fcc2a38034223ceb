"""
Follows the event log that a Spark application writes while it runs: each event once, as soon as its line is whole.

Source of names: Spark's `SingleEventLogFileWriter` and `RollingEventLogFilesWriter`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from headgate.errors import UnreachableError, UnsupportedError

Event = Mapping[str, Any]

RECENT_BYTES = 32 << 20
"""Some hundred batches."""

_CHUNK = 1 << 20
_NAME = re.compile(rb'\{"Event":"(?:[\w.]*[.$])?(\w+)"')
_LASTING = frozenset(
    {
        b"SparkListenerApplicationStart",
        b"SparkListenerApplicationEnd",
        b"SparkListenerEnvironmentUpdate",
        b"SparkListenerExecutorAdded",
        b"SparkListenerExecutorRemoved",
        b"QueryStartedEvent",
        b"QueryTerminatedEvent",
    }
)
_PASSING = frozenset({b"SparkListenerJobStart", b"SparkListenerTaskEnd", b"QueryProgressEvent", b"QueryIdleEvent"})
_PART = re.compile(r"events_(\d+)_.+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """How far a log was read."""

    file: int
    """Its number on its disk: another one stands for another file under the same name."""
    offset: int
    last: bytes
    """The line before the offset: where it no longer stands there, the file was written anew."""

    def is_in(self, part: Path) -> bool:
        """Tell whether a file is the one that was read so far."""
        if part.stat().st_ino != self.file:
            return False
        with part.open("rb") as file:
            file.seek(self.offset - len(self.last))
            return file.read(len(self.last)) == self.last


class EventLog:
    """
    The log of one application. It opens the file at each reading and keeps none open.

    Attributes:
        begun: how often it was begun anew, because a file was cut short or replaced: what was told before is void.
    """

    def __init__(self, directory: Path, application: str, *, recent_bytes: int = RECENT_BYTES) -> None:
        """
        Read nothing yet.

        Args:
            directory: of the logs of all applications.
            application: its id.
            recent_bytes: how much is read in full of what was written before the first reading.
        """
        self._directory = directory
        self._application = application
        self._recent_bytes = recent_bytes
        self._place: _Place | None = None
        self._old = 0
        """Bytes until those that are read in full."""
        self.begun = 0

    def read(self) -> Iterator[Event]:
        """
        Give the events that were written since the last reading and that anybody here needs, in order.

        A line that is not whole yet is left for the next reading; one that is no JSON is passed over.

        Raises:
            UnreachableError: there is no log, or it cannot be read; a hint says what the application lacks.
            UnsupportedError: it is compressed: what was not flushed yet cannot be seen.
        """
        with self._reported():
            parts = self._parts()
            first = self._resumed(parts)
            for part in parts[first:]:
                yield from self._events_of(part)

    def _parts(self) -> list[Path]:
        """List the files of the log, the oldest first."""
        running = self._directory / f"{self._application}.inprogress"
        for single in (running, running.with_suffix("")):
            if single.is_file():
                return [single]
        rolling = self._directory / f"eventlog_v2_{self._application}"
        numbered = {path: _PART.fullmatch(path.name) for path in rolling.glob("events_*")}
        parts = sorted((path for path, match in numbered.items() if match), key=lambda path: _number(path.name))
        self._refuse_compressed([*parts, *self._directory.glob(f"{self._application}.*")])
        if not parts:
            message = (
                f"there is no event log of {self._application} in {self._directory}. "
                "Hint: the application needs spark.eventLog.enabled=true and this spark.eventLog.dir"
            )
            raise UnreachableError(message)
        return parts

    def _refuse_compressed(self, found: list[Path]) -> None:
        for path in found:
            if path.name.removesuffix(".inprogress").endswith((".zstd", ".lz4", ".lzf", ".snappy")):
                message = f"{path} is compressed. Hint: set spark.eventLog.compress=false in the application"
                raise UnsupportedError(message)

    def _resumed(self, parts: list[Path]) -> int:
        """Find the file to go on with; begin anew where it is no longer what was read."""
        for index, part in enumerate(parts):
            if self._place is not None and self._place.is_in(part):
                return index
        self.begun += self._place is not None
        self._place, self._old = None, sum(part.stat().st_size for part in parts) - self._recent_bytes
        return 0

    def _events_of(self, part: Path) -> Iterator[Event]:
        with part.open("rb") as file:
            number = part.stat().st_ino
            begin = self._place.offset if self._place and self._place.file == number else 0
            file.seek(begin)
            for line in _whole_lines(file):
                event = _read(line, only=_LASTING if self._old > 0 else _LASTING | _PASSING)
                begin += len(line)
                self._old -= len(line)
                self._place = _Place(file=number, offset=begin, last=line)
                if event is not None:
                    yield event

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"the event log of {self._application} cannot be read: {error}"
            raise UnreachableError(message) from error


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    rest = b""
    while chunk := file.read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in whole)


def _read(line: bytes, *, only: frozenset[bytes]) -> Event | None:
    match = _NAME.match(line)
    if match is None or match[1] not in only:
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return {**event, "Event": match[1].decode()} if isinstance(event, Mapping) else None


def _number(name: str) -> int:
    match = _PART.fullmatch(name)
    return int(match[1]) if match else 0
