"""One job in the listing of all jobs: values, for the terminal and for machines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headgate.model.identity import JobKey
from headgate.model.orders import Given
from headgate.model.reasons import Reason


class Standing(StrEnum):
    """How a job stands; several may hold at once."""

    UNREACHABLE = "unreachable"
    NOT_RUNNING = "not running"
    ROLLING_BACK = "rollback in flight"
    RESCALING = "rescale in flight"
    ROLLED_BACK = "rolled back"
    ON_TRIAL = "on trial"
    PAUSED = "paused"
    DISABLED = "disabled"
    RUNNING = "running"
    """And nothing else."""


class Attention(StrEnum):
    """Whether somebody should look, the first most."""

    ALARM = "alarm"
    """Something is wrong, and waiting is no cure."""
    HELD = "held"
    """It would be changed, or cannot be judged, and something stands in the way."""
    MOVING = "moving"
    """Something is being done or advised."""
    CALM = "calm"
    """As it should be, or about to be judged."""


class Trend(StrEnum):
    """Where a lag goes."""

    GROWING = "growing"
    STEADY = "steady"
    SHRINKING = "shrinking"


class Doing(StrEnum):
    """What becomes of a change."""

    ADVISED = "advised"
    """It would be made."""
    UNDER_WAY = "under way"
    """It is not yet known to run."""
    DONE = "done"
    """It was the last one made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """How far a job is behind, all its sources together."""

    records: float
    seconds: float | None
    """Age of the oldest record, of the source that is furthest behind; infinite where it reads none, None: unknown."""
    trend: Trend | None = None
    """Against some minutes before; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Busiest:
    """The vertex that is busy the largest share of its time."""

    name: str
    load: float
    """0 to 1."""
    parallelism: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Of one vertex."""

    name: str
    before: int | None
    """None where it is not known."""
    after: int

    def __str__(self) -> str:
        """Give it as people write it."""
        return f"{self.name} {'?' if self.before is None else self.before} -> {self.after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What would be done, is being done or was done last."""

    doing: Doing
    at: datetime
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """What the listing says of one job."""

    job: JobKey
    standing: tuple[Standing, ...]
    """The gravest first, never empty."""
    attention: Attention
    parallelism: int | None
    """Subtasks of all vertices; None where the last decision saw no graph."""
    busiest: Busiest | None
    lag: Lag | None
    """None where no source tells it."""
    advice: Advice | None
    """None where nothing was ever done, or that is not known."""
    reason: Reason
    why: str
    """Why the job is not scaled, in a few words; empty while it is."""
    message: str
    """The whole sentence of the decision."""
    pause: Given | None
    decided_at: datetime
    age_s: float
    """Since the last decision."""
    is_stale: bool
    """Whether that is too long ago: nobody looks after the job."""
    brokers_unknown: bool
    """Whether it reads Kafka and no brokers are declared for it, so that its lag is what the connector says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """All jobs at one instant."""

    at: datetime
    rows: tuple[JobRow, ...]
    notes: tuple[str, ...] = ()
    """What is to be said of the whole: what could not be asked, and whether the service decides at all."""
