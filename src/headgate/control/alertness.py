"""
Which jobs are changing, told from each sample as it comes: they are looked at more often, and decided for at once.

It only ever makes a decision early. What is decided follows from the log alone, whoever asked for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.algorithm.arrival.recent import RecentArrivals
from headgate.algorithm.lag import cut_off, lag_origin
from headgate.algorithm.rules import is_fast
from headgate.control.observation import Observation
from headgate.control.reactive.sharing import is_reactive
from headgate.model.arrival import Arrival
from headgate.model.identity import JobKey
from headgate.model.measures import Measure
from headgate.model.samples import JobSample

_KEPT = timedelta(minutes=10)
"""What is looked back on: enough to tell a change, whatever was before."""

_CHANGING_S = 60.0
"""How long after a change, or its first sample, a job counts as changing; then its usual ticks are often enough."""

_LATER = 1.2
"""How many times as long a change must have lasted to be evaluated anew: then something more is known of it."""

_QUICK_S = 5.0
"""Seconds within which an engine measures anew where looking at a new job more often tells of its input any sooner."""

_BEHIND_S = 5.0
"""Seconds of its input from which on a job that was level counts as behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """What the latest sample of a job told."""

    sample: JobSample
    behind: bool
    silent: bool
    """Whether the brokers that have told its lag do so no more: it may be cut off, which the next look tells."""
    closely: bool
    """Whether to look at the job more often: it is changing, or is new and how much its input varies is not known."""
    first_at: datetime
    """When it was seen first."""
    evaluated_s: float = 0.0
    """How long its change had lasted when it was due last; 0 before that."""


class Alertness:
    """Follows the input of the jobs that go by its last change."""

    def __init__(self) -> None:
        """Know nothing of any job."""
        self._recent = RecentArrivals(_KEPT)
        self._standing: dict[JobKey, _Standing] = {}
        self._due: set[JobKey] = set()

    @property
    def changing(self) -> Collection[JobKey]:
        """The jobs that are to be looked at more often."""
        return [job for job, standing in self._standing.items() if standing.closely or standing.silent]

    @property
    def is_any_due(self) -> bool:
        """Tell whether a job is to be decided for now."""
        return bool(self._due)

    def take_due(self) -> Collection[JobKey]:
        """Give the jobs that are to be decided for now; they are due no longer."""
        due, self._due = self._due, set()
        return due

    def note(self, latest: Mapping[JobKey, Observation]) -> None:
        """Take in what was seen last of all jobs; one that gave no sample, or goes by its window, is not changing."""
        self._recent.keep_only(latest.keys())
        self._let_go_of_all_but({job for job, seen in latest.items() if _is_followed(seen)})
        news = [seen.sample for job, seen in latest.items() if seen.sample and self._is_news(job, seen)]
        for job, arrival in (self._recent.add(news) if news else {}).items():
            sample = latest[job].sample
            if sample is not None:
                self._note(sample, arrival)

    def _let_go_of_all_but(self, jobs: Collection[JobKey]) -> None:
        for job in self._standing.keys() - jobs:
            del self._standing[job]
        self._due &= set(jobs)

    def _is_news(self, job: JobKey, seen: Observation) -> bool:
        before = self._standing.get(job)
        return _is_followed(seen) and (before is None or before.sample is not seen.sample)

    def _note(self, sample: JobSample, arrival: Arrival) -> None:
        before = self._standing.get(sample.job)
        behind, changing = _is_behind(sample, arrival), arrival.changed and arrival.lasted_s <= _CHANGING_S
        evaluated_s = before.evaluated_s if before and changing else 0.0
        # A shorter one than before is another change.
        more_is_known = not evaluated_s <= arrival.lasted_s < _LATER * evaluated_s
        surprised = before is not None and (behind > before.behind or _has_lost(before.sample, sample))
        if surprised or (changing and arrival.error is not None and more_is_known):
            self._due.add(sample.job)
            evaluated_s = arrival.lasted_s
        first_at = before.first_at if before else sample.at
        is_new = arrival.error is None and (sample.at - first_at).total_seconds() <= _CHANGING_S
        self._standing[sample.job] = _Standing(
            sample=sample,
            behind=behind,
            closely=changing or (is_new and sample.settings.metric_refresh_s <= _QUICK_S),
            silent=_is_silent(sample, was=before is not None and before.silent),
            first_at=first_at,
            evaluated_s=evaluated_s,
        )


def _is_followed(seen: Observation) -> bool:
    options = seen.ctx.options
    if seen.sample is None or seen.problem is not None or seen.sample.settings.shared_workers:
        return False
    return options.enabled and is_fast(options) and not is_reactive(options)


def _is_behind(sample: JobSample, arrival: Arrival) -> bool:
    lags = (seen.values.get(Measure.LAG, 0.0) for seen in sample.vertices.values())
    return arrival.per_s is not None and sum(lags) > _BEHIND_S * arrival.per_s


def _is_silent(sample: JobSample, *, was: bool) -> bool:
    origin = lag_origin(sample)
    if origin is None or not origin.of_owner or cut_off(sample):
        return False
    seen = [sample.vertices[source.id] for source in sample.topology.sources if source.id in sample.vertices]
    return all(Measure.LAG not in one.values for one in seen) if seen else was


def _has_lost(before: JobSample, now: JobSample) -> bool:
    """Tell whether a job has fewer slots than before, or cannot reach what it reads any more."""
    known = before.slots_total is not None and now.slots_total is not None
    fewer = known and (now.slots_total or 0) < (before.slots_total or 0)
    return fewer or (cut_off(now) is not None and cut_off(before) is None)
