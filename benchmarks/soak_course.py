"""One job's way through the soak's ledger: when its parallelism did not fit its load, and what came of that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.soak_truth import MARGIN, Entry, Parallelism, What, fits, needed, parallelism_of

CONVALESCENCE_S = 60.0
"""How long after its troubles a job may be left alone: for so long one that was in the way of others is not asked."""


@dataclass(slots=True, kw_only=True)
class Course:
    """
    Where a job stands, entry by entry. A need is a time in which its parallelism does not fit its load.

    Attributes:
        limit_s: how long a need may last that no trouble of the job's own disturbs.
        met_s: how long each need lasted that a rescale ended.
        missed: the needs that lasted for longer than the limit, a sentence each.
        cut_short: needs that ended for another reason: a further step of the load, or the end.
        needless: rescales of a job that fitted.
    """

    job: int
    limit_s: float
    level: int = 0
    parallelism: Parallelism = ()
    needs_since_s: float | None = None
    troubled: bool = False
    calm_since_s: float = 0.0
    met_s: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    cut_short: int = 0
    needless: int = 0

    def take(self, entry: Entry) -> None:
        """Go on to the next entry."""
        self._look(entry.at_s)
        match entry.what:
            case What.LEVEL:
                self._load(int(entry.value), entry.at_s)
            case What.EFFECT:
                self._rescale(parallelism_of(entry.value), entry.at_s)
            case What.TROUBLE:
                self.troubled = True
            case What.CALM:
                self.troubled, self.calm_since_s = False, entry.at_s + CONVALESCENCE_S

    def end(self, at_s: float) -> None:
        """Close the last need."""
        self._look(at_s)
        self.cut_short += self.needs_since_s is not None

    def _look(self, at_s: float) -> None:
        """Miss a need, once, that has lasted for too long."""
        if self.needs_since_s is None or self.troubled:
            return
        waited_s = at_s - max(self.needs_since_s, self.calm_since_s)
        if waited_s > self.limit_s:
            what = f"job {self.job} ran at {self.parallelism} instead of {needed(self.level)}"
            self.missed.append(f"{what} for {waited_s:.0f} s until {at_s:.0f} s")
            self.needs_since_s = None

    def _load(self, level: int, at_s: float) -> None:
        self.cut_short += self.needs_since_s is not None
        self.level = level
        self.parallelism = self.parallelism or needed(level)
        self.needs_since_s = None if fits(self.parallelism, level) else at_s

    def _rescale(self, parallelism: Parallelism, at_s: float) -> None:
        self.needless += fits(self.parallelism, self.level, slack=-MARGIN)
        self.parallelism = parallelism
        if not fits(parallelism, self.level):
            self.needs_since_s = at_s if self.needs_since_s is None else self.needs_since_s
        elif self.needs_since_s is not None:
            self.met_s.append(at_s - self.needs_since_s)
            self.needs_since_s = None


def courses(ledger: Iterable[Entry], *, limit_s: float, until_s: float) -> list[Course]:
    """Follow every job to the end of the soak; the ledger is in order of time."""
    of_job: dict[int, list[Entry]] = defaultdict(list)
    for entry in ledger:
        of_job[entry.job].append(entry)
    return [_followed(job, entries, limit_s, until_s) for job, entries in sorted(of_job.items())]


def _followed(job: int, entries: Iterable[Entry], limit_s: float, until_s: float) -> Course:
    course = Course(job=job, limit_s=limit_s)
    for entry in entries:
        course.take(entry)
    course.end(until_s)
    return course
