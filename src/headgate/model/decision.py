"""
Decisions as values: a proposal a vertex, each with the trail of steps that led to it, and one outcome a job.

The trail is what the log, the command line and the events show; nobody words it a second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from headgate.model.events import EventReason, EventType
from headgate.model.forecast import Forecast, Price
from headgate.model.identity import JobKey, VertexId
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.model.state import DelayedScaleDown

_SENSITIVE = (
    "password",
    "secret",
    "fs.azure.account.key",
    "apikey",
    "api-key",
    "auth-params",
    "service-key",
    "token",
    "basic-auth",
    "jaas.config",
    "http-headers",
)
"""A key that contains one of these holds a secret. Source: Flink's `GlobalConfiguration`."""


ADVISORY = frozenset({Reason.ADVICE, Reason.EXCLUDED_PERIOD})
"""Reasons of a rescale that is only advised: the job goes on as it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One rule that changed a proposal."""

    before: int
    after: int
    reason: Reason
    detail: str
    """The numbers behind it, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that somebody should be told beside the decision itself; the control loop makes an event of it."""

    reason: EventReason
    type: EventType
    message: str
    key: str
    """Names what stays the same while the notice repeats, within its job."""
    fields: Mapping[str, str | int | float] = field(default_factory=dict)
    """The numbers of the message, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenSignal:
    """An external metric as it stood when a decision was made."""

    value: float | None = None
    """The last that is known, however old; None when none is."""
    age_s: float | None = None
    """How long ago it was true."""
    missing: str = ""
    """Why it counts as missing; empty when it does not."""
    unit: str = ""
    use: str = ""
    """What it does; empty when it does nothing by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChanges:
    """A change of the job's configuration: values to set and keys to take away."""

    overrides: Mapping[str, str] = field(default_factory=dict)
    removals: frozenset[str] = frozenset()

    @property
    def entries(self) -> tuple[str, ...]:
        """Each change as a text for people: `key=value`, or `without key`; values of keys that name a secret masked."""
        set_so = (f"{key}={_shown(key, value)}" for key, value in sorted(self.overrides.items()))
        return (*set_so, *(f"without {key}" for key in sorted(self.removals)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The parallelism wanted for one vertex, and how it came about."""

    vertex: VertexId
    name: str
    current: int
    wanted: int
    outside: bool = False
    """Whether the vertex's true rate lies outside its band."""
    expected_rate: float | None = None
    """True processing rate to be had at the wished parallelism, records/s; None when nothing was wished."""
    delayed: DelayedScaleDown | None = None
    """Wishes to shrink to be remembered until the next cycle."""
    notices: tuple[Notice, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def changes(self) -> bool:
        """Tell whether the wanted parallelism differs from the running one."""
        return self.wanted != self.current

    def rate_at_wanted(self, true_rate: float) -> float:
        """Give the true rate to be had at what is wanted at last, as much for each subtask as now, records/s."""
        return true_rate / self.current * self.wanted

    def noticing(self, notice: Notice) -> Proposal:
        """Give the proposal with a notice more."""
        return replace(self, notices=(*self.notices, notice))

    def limited_to(self, wanted: int, reason: Reason, detail: str) -> Proposal:
        """Give the proposal with another parallelism; the step is recorded only when it bites."""
        if wanted == self.wanted:
            return self
        step = Step(before=self.wanted, after=wanted, reason=reason, detail=detail)
        return replace(self, wanted=wanted, steps=(*self.steps, step))


class Outcome(StrEnum):
    """What became of a job in one cycle."""

    RESCALE = "Rescale"
    KEEP = "Keep"
    NOT_READY = "NotReady"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    What one cycle decided for one job, with everything needed to explain and to repeat it.

    The id is derived from job, time and targets, so that the same decision has the same id wherever it is computed.
    """

    id: str
    job: JobKey
    at: datetime
    outcome: Outcome
    reason: Reason
    message: str
    """One sentence for people, with the numbers that mattered."""
    fingerprint: str = ""
    """The topology that was evaluated; empty when there was none."""
    proposals: tuple[Proposal, ...] = ()
    """In topological order."""
    evaluated: EvaluatedMetrics | None = None
    delayed: Mapping[VertexId, DelayedScaleDown] | None = None
    """Wishes to shrink to be remembered; None leaves what is remembered as it is."""
    config: ConfigChanges = field(default_factory=ConfigChanges)
    """Changes of the job's configuration that go with a rescale; empty when there are none."""
    notices: tuple[Notice, ...] = ()
    """Those of the proposals included."""
    signals: Mapping[str, SeenSignal] = field(default_factory=dict)
    """The declared external metrics of the job by name."""
    forecast: Forecast | None = None
    """What becomes of a job that owes something; None where nothing is owed."""
    price: Price | None = None
    """What a rescale costs and saves; None without one, or where nobody knows how long it takes."""
    acts: bool = False
    """False in advice mode: the outcome is what would be done."""

    @property
    def is_made(self) -> bool:
        """Tell whether it is a rescale, and not only the advice to make one."""
        return self.outcome is Outcome.RESCALE and self.reason not in ADVISORY

    @property
    def changes(self) -> Mapping[VertexId, Proposal]:
        """Proposals that differ from the running parallelism, if the outcome is a rescale."""
        if self.outcome is not Outcome.RESCALE:
            return {}
        return {proposal.vertex: proposal for proposal in self.proposals if proposal.changes}

    @property
    def recommended(self) -> Mapping[VertexId, int]:
        """
        Parallelism that every vertex should have, whether or not that is done.

        What would change waits for a vertex with cause to: without one the running parallelism is as good. Source: the
        reference's `RECOMMENDED_PARALLELISM`.
        """
        moves = any(proposal.changes and proposal.outside for proposal in self.proposals)
        return {proposal.vertex: proposal.wanted if moves else proposal.current for proposal in self.proposals}

    @property
    def targets(self) -> Mapping[VertexId, int]:
        """Wanted parallelism of every vertex, the unchanged ones included."""
        return {proposal.vertex: proposal.wanted for proposal in self.proposals}


def _shown(key: str, value: str) -> str:
    return "***" if any(part in key.lower() for part in _SENSITIVE) else value
