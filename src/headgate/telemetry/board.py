"""
What the metrics are drawn from: every part of the service writes to it, every scrape reads it at one instant.

It holds the latest decision of each job, so that whatever left a job, or the fleet, leaves the metrics too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock

from headgate.control.runner import TickRun, Work
from headgate.model.decision import Decision, Outcome
from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.reasons import Reason
from headgate.telemetry.health import Check, Health
from headgate.telemetry.phases import Phase, Phases
from headgate.telemetry.tallies import Durations, JobCounts, Ticks
from headgate.telemetry.vitals import Clock, Signs, Vitals

KEPT = timedelta(hours=1)
"""How long the counters of a job outlive it: one resubmitted goes on counting, one that is gone is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a job stands: its latest decision and how long that has been so."""

    decision: Decision
    since: datetime
    """The first decision with this outcome and this reason, without another in between."""
    ready_at: datetime
    """The last decision that could be made; the first of all if none could."""
    names: Mapping[VertexId, str]
    """Of the vertices, as last heard: a decision without proposals does not tell them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A cluster, as its job list tells."""

    reachable: bool
    jobs: int | None = None
    """Live ones when it last answered; None before it ever did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything at one instant."""

    standings: Sequence[Standing] = ()
    counts: Mapping[JobKey, JobCounts] = field(default_factory=dict)
    decisions: Mapping[tuple[str, Outcome, Reason], int] = field(default_factory=dict)
    events: Mapping[tuple[EventReason, EventType], int] = field(default_factory=dict)
    ticks: Mapping[Work, Ticks] = field(default_factory=dict)
    clusters: Mapping[str, ClusterView] = field(default_factory=dict)
    phases: Mapping[Phase, Durations] = field(default_factory=dict)
    signs: Signs
    checks: Sequence[Check] = ()


class Board:
    """
    Takes in what happens and gives it out as one reading; safe to call from several threads.

    Attributes:
        vitals: the signs of life.
        health: what they come to.
        phases: what the time of cycles goes into.
    """

    def __init__(self, clock: Clock = lambda: datetime.now(UTC)) -> None:
        """Know nothing yet."""
        self.vitals = Vitals(clock)
        self.health = Health(self.vitals)
        self.phases = Phases()
        self._lock = Lock()
        self._standings: dict[JobKey, Standing] = {}
        self._counts: dict[JobKey, JobCounts] = {}
        self._decisions: Counter[tuple[str, Outcome, Reason]] = Counter()
        self._events: Counter[tuple[EventReason, EventType]] = Counter()
        self._ticks: dict[Work, Ticks] = {}
        self._clusters: dict[str, ClusterView] = {}

    def read(self) -> Reading:
        """Give what is known now; it does not change afterwards."""
        signs, checks = self.vitals.read(), self.health.ready()
        with self._lock:
            return Reading(
                signs=signs,
                checks=checks,
                phases=self.phases.read(),
                standings=tuple(self._standings.values()),
                counts=dict(self._counts),
                decisions=dict(self._decisions),
                events=dict(self._events),
                ticks=dict(self._ticks),
                clusters=dict(self._clusters),
            )

    def decided(self, decisions: Sequence[Decision]) -> None:
        """Take the decisions of one cycle: all jobs there are, some of them decided for early and taken already."""
        self.phases.end_cycle()
        with self._lock:
            known = self._standings
            self._standings = {one.job: _standing(one, known.get(one.job)) for one in decisions}
            self._count([one for one in decisions if one.job not in known or known[one.job].decision is not one])
            self._let_go(max((one.at for one in decisions), default=None))

    def decided_early(self, decisions: Sequence[Decision]) -> None:
        """Take decisions for a few jobs, made before their turn: the others stand as they did."""
        self.phases.end_cycle()
        with self._lock:
            self._standings |= {one.job: _standing(one, self._standings.get(one.job)) for one in decisions}
            self._count(decisions)

    def _count(self, decisions: Sequence[Decision]) -> None:
        self._decisions.update((one.job.cluster, one.outcome, one.reason) for one in decisions)
        for one in decisions:
            self._counts[one.job] = self._counts.get(one.job, JobCounts(at=one.at)).with_decision(one)

    def told(self, event: Event) -> None:
        """Take an event, before any merging."""
        with self._lock:
            self._events[event.reason, event.type] += 1
            if event.reason is EventReason.AUTOSCALER_ERROR and isinstance(event.subject, JobKey):
                counts = self._counts.get(event.subject, JobCounts(at=event.at))
                self._counts[event.subject] = counts.with_error(event.at)

    def ticked(self, run: TickRun) -> None:
        """Take the end of a tick."""
        self.vitals.ended(run)
        self.health.ready()  # Nobody may have asked for a while, and since when it is so is to be known.
        if run.work is Work.COLLECT:
            self.phases.note(Phase.COLLECT, run.took.total_seconds())
        with self._lock:
            self._ticks[run.work] = self._ticks.get(run.work, Ticks(last=run)).with_run(run)

    def listed(self, cluster: str, jobs: int) -> None:
        """Note that a cluster listed its jobs, and how many of them live."""
        with self._lock:
            self._clusters[cluster] = ClusterView(reachable=True, jobs=jobs)

    def unlisted(self, cluster: str) -> None:
        """Note that a cluster did not answer."""
        with self._lock:
            known = self._clusters.get(cluster)
            self._clusters[cluster] = ClusterView(reachable=False, jobs=known.jobs if known else None)

    def _let_go(self, now: datetime | None) -> None:
        if now is None:
            return
        gone = self._counts.keys() - self._standings.keys()
        for job in [job for job in gone if now - self._counts[job].at > KEPT]:
            del self._counts[job]
        # On YARN and Kubernetes clusters come and go as jobs do.
        left = {job.cluster for job in self._counts}
        for key in [key for key in self._decisions if key[0] not in left]:
            del self._decisions[key]


def _standing(decision: Decision, before: Standing | None) -> Standing:
    same = before and (before.decision.outcome, before.decision.reason) == (decision.outcome, decision.reason)
    ready = decision.outcome is not Outcome.NOT_READY
    names = {proposal.vertex: proposal.name for proposal in decision.proposals}
    return Standing(
        decision=decision,
        since=before.since if before and same else decision.at,
        ready_at=decision.at if ready or before is None else before.ready_at,
        names=names or (before.names if before else {}),
    )
