"""Which reports may enter: none that lies in time, and none about what the service or another application tells of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

from headgate.errors import RefusedError
from headgate.intake.reading import Report
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.options.service import ServiceOptions

_AHEAD = timedelta(minutes=5)
"""By how much two clocks may differ."""
_LATE = timedelta(hours=6)
"""How long an agent may have been cut off."""
_OLDEST = timedelta(days=3650)
"""Of what has lasted: no application has run, and no query has waited, for longer."""
_REPORTS_FOR = timedelta(seconds=30)
"""How long after its last report an application still counts as running."""
_INT64 = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """The clusters that the service itself looks after."""

    names: AbstractSet[str]
    prefixes: tuple[str, ...] = ()
    """Of clusters on YARN and Kubernetes, which are found as they start."""

    @classmethod
    def of(cls, options: ServiceOptions) -> Reserved:
        """Give those of a service."""
        names = frozenset([*options.cluster_names, *options.job_lists])
        return cls(names=names, prefixes=tuple(f"{name}:" for name in sorted(names)))

    def hold(self, cluster: str) -> bool:
        """Tell whether a cluster is one of them."""
        return cluster in self.names or cluster.startswith(self.prefixes)


class Gate:
    """Looks at reports before they are kept; from any thread."""

    def __init__(self, reserved: Reserved, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Let everybody in who is not reserved."""
        self._reserved = reserved
        self._clock = clock
        self._lock = Lock()
        self._running: dict[JobKey, tuple[str, datetime]] = {}
        """Id of the application that reports under a key, and when it last did."""

    def check(self, report: Report) -> None:
        """
        Let a report in.

        Raises:
            RefusedError: it may not; the text says why. Nothing of it is to be kept.
        """
        now = self._clock()
        told: tuple[JobSample | Decision | Event, ...] = (*report.samples, *report.decisions, *report.events)
        for one in told:
            if not now - _LATE <= _aware(one.at) <= now + _AHEAD:
                message = f"told at {one.at.isoformat()}, which is not now. Hint: compare the clocks of both machines"
                raise RefusedError(message)
        for value in _leaves(told):
            _check_value(value, now)
        for subject in set(_subjects(report)):
            self._check_subject(subject)
        with self._lock:
            self._check_twins(report, now)

    def _check_subject(self, subject: JobKey | str) -> None:
        cluster = subject.cluster if isinstance(subject, JobKey) else subject
        if not cluster or "/" in cluster or (isinstance(subject, JobKey) and not subject.name):
            message = f"{str(subject)!r} is no job key. Hint: write cluster/application"
            raise RefusedError(message)
        if self._reserved.hold(cluster):
            message = f"{subject}: cluster {cluster} is the service's own. Hint: give the agent another cluster name"
            raise RefusedError(message)

    def _check_twins(self, report: Report, now: datetime) -> None:
        self._running = {job: each for job, each in self._running.items() if now - each[1] < _REPORTS_FOR}
        ids = [(sample.job, sample.job_id) for sample in report.samples]
        known = {job: each[0] for job, each in self._running.items()}
        for job, job_id in ids:
            if known.setdefault(job, job_id) != job_id:
                message = f"{job} is {known[job]}, which still reports, and not {job_id}. Hint: give one another name"
                raise RefusedError(message)
        self._running |= {job: (job_id, now) for job, job_id in ids}


def _subjects(report: Report) -> Iterator[JobKey | str]:
    yield from (sample.job for sample in report.samples)
    yield from (decision.job for decision in report.decisions)
    yield from (event.subject for event in report.events)


def _check_value(value: object, now: datetime) -> None:
    if isinstance(value, datetime) and not now - _OLDEST <= _aware(value) <= now + _AHEAD:
        message = f"tells of {value.isoformat()}, which cannot be"
        raise RefusedError(message)
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        message = "tells of a number that is too large"
        raise RefusedError(message)


def _aware(at: datetime) -> datetime:
    if at.tzinfo is None:
        message = f"told at {at.isoformat()}, without a time zone"
        raise RefusedError(message)
    return at


def _leaves(value: Any) -> Iterator[object]:
    """Give what a value is made of, however deep."""
    if is_dataclass(value):
        parts: Iterable[Any] = [getattr(value, each.name) for each in fields(value)]
    elif isinstance(value, Mapping):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = value
    else:
        yield value
        return
    for part in parts:
        yield from _leaves(part)
