"""The events of reactive mode, one small maker each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from headgate.control.reports import DEFAULT_INTERVAL
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample


def slots_short(job: JobKey, share: int, least: int, now: datetime) -> Event:
    """Say that a job cannot have the slots that it needs at least."""
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.SLOTS_SHORT,
        message=f"{share} of the {least} slots that it needs at least are there for it: it is left waiting",
        key=f"{job}:slots-short:{now.isoformat()}",
        subject=job,
        fields={"share": share, "least": least},
    )


def share_held(sample: JobSample, now: datetime) -> Event:
    """Say that the engine was told to give a job no more than it runs at."""
    shown = ", ".join(f"{vertex.name} {vertex.parallelism}" for vertex in sample.topology.vertices)
    return Event(
        at=now,
        type=EventType.NORMAL,
        reason=EventReason.SHARE_HELD,
        message=f"it has its share of the slots, and is given no more than it runs at: {shown}",
        key=f"{sample.job}:share-held:{now.isoformat()}",
        subject=sample.job,
    )


def unsuitable(job: JobKey, why: Sequence[str], now: datetime, interval: timedelta) -> Event:
    """Name every reason for which a job is not fit for reactive mode; the same reasons are one event."""
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.REACTIVE_UNSUITABLE,
        message=f"not fit for reactive mode, so it is left alone: {'; '.join(why)}",
        key=f"{job}:unsuitable:{why}",
        subject=job,
        merge_interval=interval,
    )


def workers_requested(cluster: str, count: int, before: int, why: str, now: datetime) -> Event:
    """Say that more or fewer workers were asked for, or the same again where one was missing."""
    what = f"asked for {count} workers instead of {before}" if count != before else f"asked again for {count} workers"
    return _of_workers(cluster, f"{what}: {why}", now, count=count, key=now.isoformat())


def workers_advised(cluster: str, count: int, before: int, why: str, now: datetime) -> Event:
    """Say what would be asked for; while that is the same it is one event."""
    message = f"advice (nothing is changed): {count} workers instead of {before}: {why}"
    return _of_workers(cluster, message, now, count=count, key=f"advice:{count}", interval=DEFAULT_INTERVAL)


def workers_failed(cluster: str, why: str, now: datetime) -> Event:
    """Say that workers could not be counted or changed; the same failure is one event."""
    return Event(
        at=now,
        type=EventType.WARNING,
        reason=EventReason.WORKERS_FAILED,
        message=f"{why}; tried again in the next cycle",
        key=f"{cluster}:workers-failed:{why}",
        subject=cluster,
        merge_interval=DEFAULT_INTERVAL,
    )


def _of_workers(
    cluster: str, message: str, now: datetime, *, count: int, key: str, interval: timedelta | None = None
) -> Event:
    return Event(
        at=now,
        type=EventType.NORMAL,
        reason=EventReason.WORKERS_REQUESTED,
        message=message,
        key=f"{cluster}:workers:{key}",
        subject=cluster,
        fields={"workers": count},
        merge_interval=interval,
    )
