"""
The soak's judge: whether memory and ticks stayed flat, and whether each job got what it needed, once.

It reads the raw results alone, so that it says the same of them at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.soak_course import Course, courses
from benchmarks.soak_plan import Trouble
from benchmarks.soak_truth import Entry, What

LIMIT_TICKS = 22
"""
Ticks within which a job must fit its load again. The window is four long and begins anew with each rescale, and the
first rescale after a step goes by a window of both loads, so that a second one may have to follow.
"""
WARM_UP_TICKS = 12
"""Left out of the thirds: by then the first steps have their rescales."""
LEAST_SAMPLES = 3
"""In each third, else nothing is said of flatness."""
MOST_GROWTH = {"memory": 1.15, "collect": 1.25, "decide": 1.25}
"""Most that the median of a last third may be of that of the first."""

Series = Sequence[Sequence[float]]
"""Pairs: seconds since the soak began, and a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thirds:
    """The first third of a series against its last."""

    first: float
    """Median."""
    last: float
    """Median."""
    samples: int
    """In the smaller of both."""

    @property
    def ratio(self) -> float:
        """How many times the first the last one is."""
        return self.last / self.first


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What became of the events in the log."""

    happened: int
    """Before repetitions were merged."""
    told: int
    retold: tuple[str, ...]
    """Keys that were told twice within their interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the soak showed."""

    thirds: Mapping[str, Thirds]
    courses: Sequence[Course]
    effects: int
    """PUTs that changed a job."""
    duplicates: tuple[str, ...]
    """A sentence each."""
    events: Events

    @property
    def missed(self) -> list[str]:
        """The needs that were not met in time."""
        return [miss for course in self.courses for miss in course.missed]

    @property
    def met_s(self) -> list[float]:
        """How long each need lasted that was met."""
        return sorted(met for course in self.courses for met in course.met_s)

    def faults(self) -> Iterator[str]:
        """Name what is not as it has to be."""
        yield from self.missed
        yield from self.duplicates
        yield from (f"event {key} was told twice" for key in self.events.retold)
        for name, most in MOST_GROWTH.items():
            thirds = self.thirds.get(name)
            if thirds is None:
                yield f"{name}: too few samples to tell whether it is flat"
            elif thirds.ratio > most:
                yield f"{name}: the last third is {thirds.ratio:.2f} of the first, at most {most:g}"


def judge(run: Mapping[str, Any], ledger: Sequence[Entry]) -> Verdict:
    """
    Judge a soak.

    Args:
        run: the raw results: `setting`, `series` by name, `events`.
        ledger: in order of time.
    """
    setting = run["setting"]
    until_s, tick_s = setting["duration_s"], setting["tick_s"]
    warm_s = WARM_UP_TICKS * tick_s
    split = {name: thirds_of(series, warm_s, until_s) for name, series in run["series"].items()}
    events = run["events"]
    return Verdict(
        thirds={name: thirds for name, thirds in split.items() if thirds},
        courses=courses(ledger, limit_s=LIMIT_TICKS * tick_s, until_s=until_s),
        effects=sum(entry.what is What.EFFECT for entry in ledger),
        duplicates=tuple(duplicates(ledger)),
        events=Events(happened=events["happened"], told=events["told"], retold=tuple(events["retold"])),
    )


def thirds_of(series: Series, from_s: float, until_s: float) -> Thirds | None:
    """Give the medians of the first and of the last third of a time; None where either has too few samples."""
    third = (until_s - from_s) / 3
    first = [value for at_s, value in series if from_s <= at_s < from_s + third]
    last = [value for at_s, value in series if until_s - third <= at_s <= until_s]
    samples = min(len(first), len(last))
    return Thirds(first=median(first), last=median(last), samples=samples) if samples >= LEAST_SAMPLES else None


def duplicates(ledger: Iterable[Entry]) -> Iterator[str]:
    """
    Name each PUT that is one too many.

    One that changes a job belongs to the job's latest decision before it, which no other PUT may have had; a decision
    may be told twice. One that changes nothing asks again, which only who got no answer may do.
    """
    unused: dict[int, str] = {}
    told: set[str] = set()
    unanswered: set[int] = set()
    for entry in ledger:
        if entry.what is What.DECISION and entry.value not in told:
            told.add(entry.value)
            unused[entry.job] = entry.value
        elif entry.what is What.EFFECT and unused.pop(entry.job, None) is None:
            yield f"job {entry.job} was rescaled to {entry.value} at {entry.at_s:.0f} s by no decision of its own"
        elif entry.what is What.RESTATED and entry.job not in unanswered:
            yield f"job {entry.job} was asked for {entry.value} again at {entry.at_s:.0f} s"
        elif entry.value == Trouble.LOST:
            (unanswered.add if entry.what is What.TROUBLE else unanswered.discard)(entry.job)
