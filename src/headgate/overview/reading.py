"""Reads one job's past: the decisions of the log, the rescales of the state store, the events where they are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from headgate.algorithm.wording import moment
from headgate.control.recollection import Names, orders_held, recollection
from headgate.errors import HeadgateError
from headgate.events.reading import KeptEvent
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.overview.entry import Past
from headgate.overview.timeline import Sources, points, timeline
from headgate.ports import StateStore
from headgate.samplelog.reader import LogReader

_MISSED = 10
"""Cycles that may be missing before their absence is told."""

_KEPT_BY_NOBODY = "the state store is `memory`: how rescales ended, and what is ordered, is the service's alone"

Events = Callable[[], Sequence[KeptEvent]]
"""Reads the events of the job."""


def past(
    job: JobKey,
    reader: LogReader,
    store: StateStore | None,
    events: Events,
    *,
    since: datetime,
    now: datetime,
    interval: timedelta,
) -> Past:
    """
    Read and tell what happened to a job.

    Args:
        job: which.
        reader: of the samples log.
        store: of the service; None where it keeps nothing between two processes.
        events: reads those of the job.
        since: how far back.
        now: the present.
        interval: between two decisions.

    Raises:
        UnreachableError: the log cannot be read; a store or events that cannot are a note.
    """
    sources = Sources(job=job, since=since, until=now, decisions=reader.decisions(job, since, now))
    sources, faults = _completed(sources, store, events)
    names = {p.vertex: p.name for decision in sources.decisions for p in decision.proposals}
    return Past(
        job=job,
        since=since,
        until=now,
        entries=timeline(sources, _MISSED * interval),
        points=points(sources.decisions),
        standing=(
            *orders_held(sources.orders.orders_of(job)),
            *recollection(sources.state, names, now),
            *_rejected(sources.state, names, now),
        ),
        notes=faults,
    )


def _completed(sources: Sources, store: StateStore | None, events: Events) -> tuple[Sources, tuple[str, ...]]:
    """Add what the store and the events tell; what cannot be asked is said, and spoils nothing."""
    faults: list[str] = []
    if store is None:
        faults.append(_KEPT_BY_NOBODY)
    else:
        try:
            records, state = store.history(sources.job, sources.since), store.load(sources.job).state
            sources = replace(sources, records=records, state=state, orders=store.orders())
        except HeadgateError as error:
            faults.append(f"how rescales ended, and what is ordered, is not known: {error}")
    try:
        sources = replace(sources, events=events())
    except HeadgateError as error:
        faults.append(f"what events told is not known: {error}")
    return sources, tuple(faults)


def _rejected(state: JobState, names: Names, now: datetime) -> Iterator[str]:
    """Tell what is not tried again, and until when."""
    for rejection in state.rejections:
        if rejection.expires_at > now:
            wanted = ", ".join(f"{names.get(vertex, vertex)} {n}" for vertex, n in rejection.after.items())
            yield f"not tried again before {moment(rejection.expires_at)}: {wanted}; {rejection.why}"
