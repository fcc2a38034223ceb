"""Looks at all jobs at once: the newest decisions of the log, and what the state store holds beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.algorithm.lag import told_brokers_unknown
from headgate.control.recollection import Names
from headgate.errors import HeadgateError, PermanentError
from headgate.model.decision import Decision
from headgate.model.identity import JobKey
from headgate.model.orders import StandingOrders
from headgate.model.state import UNSEEN, JobState
from headgate.overview.naming import vertex_names
from headgate.overview.row import Glance
from headgate.overview.summary import Known, lag_records, row_of
from headgate.overview.wording import age, told
from headgate.ports import StateStore
from headgate.samplelog.reader import LogReader

_ENDED = timedelta(minutes=15)
"""Who has not decided for so long while others have, has ended; where cycles are long, for twice the patience."""
_BEFORE = timedelta(minutes=5)
"""What a lag is compared with."""
_MISSED = 4
"""Cycles that may be missing before a decision counts as stale."""
_LOOKED_UP = 50
"""Jobs whose vertices' names are looked up, each by a read of the log; of others the ids are shown."""
_SLOW = timedelta(minutes=2)
"""What a large fleet's cycle may take in any case."""

_KEPT_BY_NOBODY = "the state store is `memory`: what it holds of pauses, trials and rescales is the service's alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What the state store holds of all jobs."""

    states: Mapping[JobKey, JobState] = field(default_factory=dict)
    orders: StandingOrders = field(default_factory=StandingOrders)
    fault: str = ""
    """Why nothing is known; empty where it is."""


def look(reader: LogReader, store: StateStore | None, now: datetime, *, interval: timedelta) -> Glance:
    """
    Look at all jobs.

    Args:
        reader: of the samples log.
        store: of the service; None where it keeps nothing between two processes.
        now: the present.
        interval: between two decisions.

    Raises:
        UnreachableError: the log cannot be read; a store that cannot is a note.
    """
    remembered = _remembered(store)
    patience = max(_MISSED * interval, _SLOW)
    known = _known(reader, remembered, now, patience)
    last = max((each.decision.at for each in known), default=None)
    silent = last is None or now - last > patience
    rows = tuple(row_of(each, now, patience, silent=silent) for each in known)
    brokerless = [row.job for row in rows if row.brokers_unknown]
    notes = (
        _silence(last, now) if silent else "",
        _paused(remembered),
        remembered.fault,
        told_brokers_unknown(brokerless) if brokerless else "",
    )
    return Glance(at=now, rows=rows, notes=tuple(filter(None, notes)))


def _remembered(store: StateStore | None) -> Remembered:
    if store is None:
        return Remembered(fault=_KEPT_BY_NOBODY)
    try:
        states = {job: held.state for job, held in store.states().items()}
        return Remembered(states=states, orders=store.orders())
    except HeadgateError as error:
        return Remembered(fault=f"pauses, trials and rescales in flight are not known: {error}")


def _known(reader: LogReader, remembered: Remembered, now: datetime, patience: timedelta) -> list[Known]:
    latest = reader.latest_decisions(now, max(_ENDED, 2 * patience))
    earlier = _earlier(reader, latest, patience)
    names = _names(reader, latest, remembered)
    return [
        Known(
            decision=decision,
            earlier=earlier.get(job),
            state=remembered.states.get(job, UNSEEN),
            pause=remembered.orders.pause_of(job),
            names=names.get(job, {}),
        )
        for job, decision in latest.items()
    ]


def _earlier(reader: LogReader, latest: Mapping[JobKey, Decision], patience: timedelta) -> Mapping[JobKey, Decision]:
    """Give what was decided some minutes before and not much earlier, for the jobs of which that says something."""
    told = [job for job, decision in latest.items() if lag_records(decision) or not decision.proposals]
    if not told:
        return {}
    before = max(decision.at for decision in latest.values()) - _BEFORE
    try:
        found = reader.latest_decisions(before, _BEFORE, jobs=told)
    except PermanentError:  # another version of Headgate wrote them, before it was replaced: there is no trend yet
        return {}
    return {job: decision for job, decision in found.items() if before - decision.at <= patience}


def _names(reader: LogReader, latest: Mapping[JobKey, Decision], remembered: Remembered) -> Mapping[JobKey, Names]:
    """Look up what the vertices of jobs that settle after a rescale are called."""
    states = remembered.states
    nameless = [job for job, decision in latest.items() if not decision.proposals and job in states]
    settling = [job for job in nameless if states[job].history]
    return {job: vertex_names(reader, job, states[job]) for job in settling[:_LOOKED_UP]}


def _silence(last: datetime | None, now: datetime) -> str:
    """Say that nobody decides at all, which is more than that a job is stale."""
    if last is None:
        return "no decision is in the samples log. Hint: is `headgate run` running with this file?"
    return f"the service has not decided for {age(now - last)}. Hint: is `headgate run` running?"


def _paused(remembered: Remembered) -> str:
    pause = remembered.orders.fleet.pause
    return "" if pause is None else f"everything is {told(pause)}"
