"""Many decisions that changed nothing, told as the few stretches of time that they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby, pairwise

from headgate.model.decision import Decision, Outcome
from headgate.model.reasons import Reason
from headgate.overview.entry import Entry, Kind
from headgate.overview.wording import age, why_not

_SHORT = 3
"""Decisions; stretches that are shorter and follow on each other are one that goes back and forth."""

_SAME = {Reason.WITHIN_BAND: Reason.BALANCED}
"""Reasons between which a job goes back and forth while it is well."""
_IN_BALANCE = "in balance or within its band"

Stretch = Sequence[Decision]


def stretches(decisions: Iterable[Decision]) -> tuple[Entry, ...]:
    """Give a stretch for all decisions in a row that have the same reason, and advise the same."""
    runs = [tuple(run) for _, run in groupby(decisions, key=_sort)]
    merged = (tuple(group) for _, group in groupby(runs, key=lambda run: len(run) < _SHORT))
    return tuple(entry for group in merged for entry in _told(group))


def silences(times: Iterable[datetime], patience: timedelta) -> tuple[Entry, ...]:
    """Give the stretches between the times of decisions, and the present, that are longer than `patience`."""
    return tuple(
        Entry(at=before, until=after, kind=Kind.SILENCE, what=f"no decision for {age(after - before)}")
        for before, after in pairwise(times)
        if after - before > patience
    )


def _sort(decision: Decision) -> Hashable:
    """Give what decisions of one stretch have in common."""
    wanted = tuple((p.vertex, p.wanted) for p in decision.changes.values())
    return _SAME.get(decision.reason, decision.reason), wanted


def _told(runs: Sequence[Stretch]) -> Iterator[Entry]:
    if len(runs) > 1 and len(runs[0]) < _SHORT:
        yield _restless([decision for run in runs for decision in run])
    else:
        yield from (_stretch(run) for run in runs)


def _stretch(run: Stretch) -> Entry:
    last = run[-1]
    return Entry(
        at=run[0].at,
        until=last.at,
        kind=Kind.UNCHANGED,
        what=_what({decision.reason for decision in run}, last),
        count=len(run),
        why=() if last.reason is Reason.BALANCED else (last.message,),
    )


def _what(reasons: set[Reason], last: Decision) -> str:
    if last.outcome is Outcome.RESCALE:
        return f"{why_not(last)}: {', '.join(f'{p.name} {p.current} -> {p.wanted}' for p in last.changes.values())}"
    return _IN_BALANCE if len(reasons) > 1 else why_not(last)


def _restless(decisions: Stretch) -> Entry:
    reasons = dict.fromkeys(why_not(decision) for decision in decisions)
    return Entry(
        at=decisions[0].at,
        until=decisions[-1].at,
        kind=Kind.UNCHANGED,
        what=f"back and forth between {' and '.join(reasons)}" if len(reasons) > 1 else next(iter(reasons)),
        count=len(decisions),
    )
