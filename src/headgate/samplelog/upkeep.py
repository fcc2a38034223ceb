"""What a log wants done from time to time."""

from __future__ import annotations

from datetime import datetime

from headgate.options.service import LogOptions
from headgate.samplelog import files
from headgate.samplelog.compaction import compact
from headgate.samplelog.retention import expire


def upkeep(log: LogOptions, now: datetime) -> None:
    """
    Put closed hours together and drop those that are too old; safe beside writers, readers and other processes.

    Raises:
        UnreachableError: the log could not be read or written; nothing is lost.
    """
    root = files.root_of(log)
    expire(root, now - log.retention)
    compact(root, now, closed_for=log.compact_after)
