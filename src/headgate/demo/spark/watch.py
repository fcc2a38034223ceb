"""
Watches the application from outside: its master and its event log, nothing of what Headgate collects.

Blocking; the addresses are on this machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from headgate.demo.saying import Saying
from headgate.demo.spark.draw import EXECUTORS, TRIGGER_S
from headgate.demo.spark.progress import Batch, EventLog
from headgate.demo.timeline import Observation
from headgate.engines.spark.source.profile import LoadProfile

_RECENT = 3
_SAID = re.compile(r"(?:INFO|WARNING):headgate:(?P<what>\w+) (?P<subject>\S+): (?P<message>.*)")


class SparkWatcher:
    """Looks at one application."""

    def __init__(
        self, status: Callable[[], Mapping[str, Any]], log: EventLog, *, load: LoadProfile, start: datetime
    ) -> None:
        """
        Look at nothing yet.

        Args:
            status: asks the master; raises `OSError` where there is no answer.
            log: the application's.
            load: what comes in.
            start: the load's second 0.
        """
        self._status = status
        self._log = log
        self._load = load
        self._start = start
        self.batches: list[Batch] = []

    def look(self, now: datetime, epoch: datetime) -> Observation | None:
        """Look once; None where the master does not answer."""
        self.batches += self._log.batches()
        try:
            granted = [application["cores"] for application in self._status()["activeapps"]]
        except OSError:
            return None
        since_s = (now - self._start).total_seconds()
        return Observation(
            at_s=(now - epoch).total_seconds(),
            parallelism={EXECUTORS: sum(granted)},
            running=bool(granted),
            wanted_per_s=self._load.rate_per_s(since_s),
            processed_per_s=_rate(self.batches[-_RECENT:]),
            lag_records=max(0.0, self._load.rows_until(since_s) - self._taken),
            busy=self._busy(),
        )

    @property
    def _taken(self) -> int:
        return self.batches[-1].taken if self.batches else 0

    def _busy(self) -> Mapping[str, float]:
        return {EXECUTORS: min(1.0, self.batches[-1].duration_s / TRIGGER_S)} if self.batches else {}


def _rate(batches: list[Batch]) -> float:
    """Return the rows per second of the batches after the first one."""
    if len(batches) < 2:  # noqa: PLR2004
        return 0.0
    span_s = (batches[-1].ended_at - batches[0].ended_at).total_seconds()
    return sum(batch.rows for batch in batches[1:]) / max(span_s, 0.001)


def read_log(lines: Iterable[str], at: datetime) -> list[Saying]:
    """Return what Headgate says in lines of Python's logging, as said at an instant; other lines are passed over."""
    found = (_SAID.search(line) for line in lines)
    return [
        Saying(at=at, what=each["what"], message=each["message"], subject=each["subject"]) for each in found if each
    ]
