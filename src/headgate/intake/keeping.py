"""Where reports go: samples and decisions to the log, each application in a shard of its own; events to listeners."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, TypeVar

from headgate.intake.reading import Report
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.ports import EventHandler
from headgate.samplelog.files import Address
from headgate.samplelog.writer import SampleLog

T = TypeVar("T", JobSample, Decision)


class Keeper:
    """Keeps reports; safe to call from several threads."""

    def __init__(self, log: Address, events: EventHandler) -> None:
        """
        Keep nothing yet.

        Args:
            log: the samples log.
            events: who is told of events; it never raises.
        """
        self._log = log
        self._events = events
        self._logs: dict[JobKey, SampleLog] = {}
        self._lock = Lock()

    def keep(self, report: Report) -> None:
        """
        Keep a report, and tell of its events.

        Raises:
            UnreachableError: the log cannot be written.
        """
        with self._lock:
            for samples in _by_tick(report.samples).values():
                self._log_of(samples[0].job).append(samples)
            for decisions in _by_tick(report.decisions).values():
                self._log_of(decisions[0].job).append_decisions(decisions)
        for event in report.events:
            self._events.handle(event)

    def _log_of(self, job: JobKey) -> SampleLog:
        # Applications tick at the same instants: in one shard, one's file would replace the other's.
        shard = hashlib.sha256(f"agent {job}".encode()).hexdigest()[:8]
        return self._logs.setdefault(job, SampleLog(self._log, shard=shard))


def _by_tick(values: Iterable[T]) -> Mapping[Any, list[T]]:
    found: dict[Any, list[T]] = defaultdict(list)
    for value in values:
        found[value.job, value.at].append(value)
    return found
