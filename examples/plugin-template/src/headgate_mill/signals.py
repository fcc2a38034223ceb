"""Reads signals from files that hold one number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from headgate.model.samples import Signal
from headgate.ports import JobContext, Missing


class NumberFileSource:
    """`NAME.txt` is signal NAME, as old as the file. Implements `headgate.ports.SignalSource`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Take `directory`.

        Raises:
            ValueError: it is missing.
        """
        if "directory" not in parameters:
            message = "parameter directory is missing. Hint: where the files with numbers are"
            raise ValueError(message)
        self._directory = Path(parameters["directory"])

    async def query(self, ctx: JobContext, signals: Sequence[str], /) -> Mapping[str, Signal | Missing]:
        """Read those that are there."""
        return {name: self._read(name) for name in signals}

    def _read(self, name: str) -> Signal | Missing:
        path = self._directory / f"{name}.txt"
        try:
            value, seconds = float(path.read_text()), path.stat().st_mtime
        except (OSError, ValueError) as error:
            return Missing(why=f"{path.name}: {error}")
        if not math.isfinite(value):
            return Missing(why=f"{path.name} holds {value}, which is no number")
        return Signal(value=value, measured_at=datetime.fromtimestamp(seconds, UTC))
