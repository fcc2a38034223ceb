"""The file of measured rescales: comma-separated, one line a rescale, safe on disk as soon as it was measured."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from headgate.errors import ConfigError
from headgate.rescales.rows import COLUMNS, Row, read_row


class RunsFile:
    """
    Rows that were measured, and whatever was noted beside them in lines that begin with `#`.

    Whoever is killed while writing leaves at most one line without an end: it is not read, and is written over.
    """

    def __init__(self, path: Path) -> None:
        """Open nothing yet; the file need not be there."""
        self.path = path

    def rows(self) -> tuple[Row, ...]:
        """
        Return all rows, in the order of the file; none where there is no file.

        Raises:
            ConfigError: a line is not what the file should hold.
        """
        lines = [line for line in self._whole_lines() if not line.startswith("#")]
        return tuple(self._read(texts) for texts in csv.DictReader(lines))

    def append(self, row: Row) -> None:
        """Write a row and wait until the disk has it; the header comes before the first."""
        self._write(_line(row.texts()))

    def note(self, text: str) -> None:
        """Write a line about the rows after it: where and when they were measured."""
        self._write(f"# {text}\n")

    def _write(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kept = "".join(self._whole_lines()).encode() or _header().encode()
        if not self.path.exists() or self.path.stat().st_size != len(kept):
            self.path.write_bytes(kept)
        with self.path.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def _whole_lines(self) -> list[str]:
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True) if self.path.exists() else []
        return lines[:-1] if lines and not lines[-1].endswith("\n") else lines

    def _read(self, texts: dict[str, str]) -> Row:
        try:
            return read_row(texts)
        except (ValueError, KeyError, TypeError) as error:
            message = f"{self.path}: run {texts.get('run')} is no measured rescale: {error!r}"
            raise ConfigError([message]) from error


def _header() -> str:
    meanings = "".join(f"# {name}: {meaning}\n" for name, meaning in COLUMNS.items())
    return f"# Rescales measured by `headgate measure-rescale`. Columns:\n{meanings}{_line(list(COLUMNS))}"


def _line(texts: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(texts)
    return text.getvalue()
