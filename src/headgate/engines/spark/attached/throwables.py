"""What the JVM throws: as Headgate's own errors, and as texts that may be told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors import PySparkException

from headgate.engines.spark.attached.backend import translated
from headgate.errors import UnreachableError

_LONGEST = 300
_MOST = 8
"""Lines that are kept: the exception and its causes."""
_CAUSE = "Caused by: "


@contextmanager
def asking() -> Iterator[None]:
    """
    Turn what PySpark makes of some of Java's exceptions into errors as well; see `backend.translated`.

    Raises:
        UnreachableError: the driver failed to answer.
    """
    with translated():
        try:
            yield
        except PySparkException as error:
            message = f"the driver's JVM failed: {str(error).strip().splitlines()[0][:_LONGEST]}"
            raise UnreachableError(message) from error


def without_frames(text: str) -> str:
    """Give the first line of a printed exception and those of its causes, each cut at 300 characters."""
    first, *others = [line.strip() for line in text.strip().splitlines()] or [""]
    causes = [line for line in others if line.startswith(_CAUSE)]
    return "\n".join(line[:_LONGEST].strip() for line in [first, *causes][:_MOST])


def printed(throwable: Any) -> str:
    """Print one of Java's exceptions with its causes, a line each."""
    lines: list[str] = []
    while throwable is not None and len(lines) < _MOST:
        first = (throwable.getMessage() or "").strip().partition("\n")[0]
        line = f"{_CAUSE if lines else ''}{throwable.getClass().getName()}: {first}"
        lines.append(line[:_LONGEST].strip())
        throwable = throwable.getCause()
    return "\n".join(lines)
