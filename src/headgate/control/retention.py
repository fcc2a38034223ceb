"""
Forgetting: jobs that have been gone for long, with their history, and rescales of long ago.

Gone is what its cluster does not list while it answers; since when is noted in the store, so that neither a restart nor
a time without any Headgate counts as absence. Jobs of clusters that nobody looks after are left to `headgate state`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.control import reports
from headgate.control.observation import Observer
from headgate.model.identity import JobKey
from headgate.options.units import format_duration
from headgate.ports import EventHandler, StateStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRetention:
    """Forgets what the store keeps for nothing; blocking, and safe beside cycles and other processes."""

    store: StateStore
    observers: Sequence[Observer]
    looks_after: Callable[[JobKey], bool]
    """Tells whether a job is this process's: the others note and forget theirs."""
    events: EventHandler
    keep: Callable[[], timedelta]
    """How long a job's state is kept once it is gone, and a rescale once it was made."""

    def __call__(self, now: datetime) -> None:
        """
        Note which jobs have gone or come back, and forget those that have been gone for long; each is an event.

        Never one with an open intent, with events that wait, or with orders.

        Raises:
            UnreachableError: the store did not answer; the next call goes on.
        """
        keep = self.keep()
        kept = {job: since for job, since in self.store.kept().items() if self.looks_after(job)}
        missing = {job for job in kept if any(observer.misses(job) for observer in self.observers)}
        there = {job for observer in self.observers for job in observer.latest}
        self.store.note_gone([job for job in missing if kept[job] is None], now)
        self.store.note_gone([job for job in there & kept.keys() if kept[job] is not None], None)
        for job in sorted(missing):
            if self.store.forget(job, gone_before=now - keep, unused=True):
                why = f"was gone for {format_duration(keep)}, see state.retention: its state and history are forgotten"
                self.events.handle(reports.job_presence(job, appeared=False, why=why, now=now))
        self.store.forget_history(now - keep)
