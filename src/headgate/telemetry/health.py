"""
Whether the service lives, and whether it does its work: judged by its signs, for probes and for people.

A service that does not live is to be started anew, so only what a new start mends counts there. One that is not ready
may well be so again by itself: a cluster, a store or another process is what it waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

from headgate.control.runner import Beat, Work
from headgate.options.units import format_duration
from headgate.telemetry.vitals import Freshness, Signs, Vitals

SEVERAL = 5
"""Intervals without a tick, after which a loop hangs, and without a sample, after which samples are stale."""
_LEAST = timedelta(minutes=1)
"""However short the intervals: samples may be late, for requests have time limits of their own."""
_LONGEST = timedelta(minutes=10)
"""
That anything may take before it is taken to hang. Clusters and databases that do not answer make each tick as long as
all their time limits, which no new start mends; and a cycle waits half as long for its evaluation.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that is looked at, and the verdict on it."""

    name: str
    why: str = ""
    """What is wrong; empty when nothing is."""
    since: datetime | None = None
    """When the verdict was first seen; None where nobody has kept it."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.why


Judge = Callable[[Signs], tuple[Check, ...]]


class Health:
    """Judges by the signs of life, and remembers since when each verdict stands; safe to call from several threads."""

    def __init__(self, vitals: Vitals) -> None:
        """Have judged nothing yet."""
        self._vitals = vitals
        self._lock = Lock()
        self._known: dict[str, Check] = {}

    def alive(self) -> tuple[Check, ...]:
        """Tell whether the process should be left to itself: all is well, or starting it anew would mend it."""
        return self._judged(alive)

    def ready(self) -> tuple[Check, ...]:
        """Tell whether it does what it is there for."""
        return self._judged(ready)

    def _judged(self, judge: Judge) -> tuple[Check, ...]:
        with self._lock:
            signs = self._vitals.read()
            found = tuple(self._dated(check, signs.at) for check in judge(signs))
            self._known |= {check.name: check for check in found}
            return found

    def _dated(self, check: Check, at: datetime) -> Check:
        known = self._known.get(check.name)
        return replace(check, since=known.since if known and known.ok == check.ok else at)


def alive(signs: Signs) -> tuple[Check, ...]:
    """Judge what a new start would mend."""
    return (
        Check(name="loops", why="; ".join(_hanging(signs))),
        Check(name="evaluation", why=_evaluation(signs)),
    )


def ready(signs: Signs) -> tuple[Check, ...]:
    """Judge all that the service's work rests on."""
    return (
        *alive(signs),
        Check(name="cycle", why=_cycle(signs)),
        Check(name="state-store", why=_store(signs)),
        Check(name="samples", why=_samples(signs)),
        Check(name="leases", why=_leases(signs)),
        Check(name="staying", why="the service was told to stop" if signs.stopping else ""),
    )


def _hanging(signs: Signs) -> Iterator[str]:
    if signs.stopping:
        return  # A loop that has ended ticks no more, and how long the stop may take is bounded elsewhere.
    if not signs.beats and signs.at - signs.born > _LONGEST:
        yield f"none has begun since the start at {_text(signs.born)}"
    for beat in signs.beats.values():
        if signs.at - beat.at > patience(beat):
            often = format_duration(beat.interval)
            yield f"{beat.loop} has not begun anew since {_text(beat.at)}, and should every {often}"


def patience(beat: Beat) -> timedelta:
    """Give how long after a tick has begun the next one may be awaited."""
    return max(SEVERAL * beat.interval, _LONGEST)


def _evaluation(signs: Signs) -> str:
    since = signs.evaluating_since
    if since is None or signs.at - since <= _LONGEST:
        return ""
    return f"the evaluation that began at {_text(since)} has not come to an end"


def _cycle(signs: Signs) -> str:
    if signs.cycle is None:
        return "the first cycle is not over"
    if signs.cycle.failed:
        return f"the cycle of {_text(signs.cycle.at)} failed as a whole; an event says why"
    return f"jobs could not be evaluated: {signs.evaluation_fault}" if signs.evaluation_fault else ""


def _store(signs: Signs) -> str:
    return "" if signs.store_fault is None else f"the state store does not answer: {signs.store_fault}"


def _samples(signs: Signs) -> str:
    """Complain only when nothing is heard of any cluster: one that does not answer is that cluster's matter."""
    if not signs.clusters or any(_is_fresh(one, signs) for one in signs.clusters.values()):
        return ""
    newest = max((one.newest for one in signs.clusters.values() if one.newest), default=None)
    return f"no cluster gives samples; the newest is of {_text(newest)}" if newest else "there are no samples yet"


def _is_fresh(one: Freshness, signs: Signs) -> bool:
    collecting = [beat.interval for beat in signs.beats.values() if beat.work is Work.COLLECT]
    longest = max(SEVERAL * max(collecting, default=timedelta()), _LEAST)
    return one.fresh_at is not None and signs.at - one.fresh_at <= longest


def _leases(signs: Signs) -> str:
    """Complain where nobody looks after anything; a process that waits for another's part is as ready as can be."""
    leases = signs.leases
    if leases is None or leases.held or leases.others:
        return ""
    return "no part of the jobs is held, here or by anybody else"


def _text(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
