"""What a decision depended on beside samples, and where that is kept so that it can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from headgate.model.downtime import Downtime
from headgate.model.metrics import NotReady
from headgate.model.samples import EngineSettings
from headgate.model.state import UNSEEN, JobState
from headgate.options.service import Mode
from headgate.ports.jobs import JobContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What one decision depended on, but for the samples themselves."""

    at: datetime
    """The tick of the decision."""
    ctx: JobContext
    """The job as its cluster listed it, with the options that held and what people had ordered of it."""
    mode: Mode
    collect_interval: timedelta
    """Between two ticks of the collector, from which follows what is stale."""
    sampled_at: datetime | None = None
    """The tick of the sample that the decision went by: a newer one may have come while it was made."""
    settings: EngineSettings | None = None
    """Of that sample's cluster; None where there was no sample."""
    since: datetime | None = None
    """Tick at which the key came to mean this job id."""
    problem: NotReady | None = None
    """Why the last tick gave no sample."""
    state: JobState = UNSEEN
    """What was remembered before the decision."""
    downtime: Downtime | None = None
    """How long a rescale was predicted to take."""
    early: bool = field(default=False, compare=False)
    """Whether the decision was made before its turn: that most jobs have none then says nothing of them."""


class CircumstanceSink(Protocol):
    """Keeps what decisions depended on."""

    def append_circumstances(self, circumstances: Sequence[Circumstances], /) -> None:
        """
        Keep those of all decisions of one cycle, all of one `at`; blocking.

        Raises:
            TransientError: they could not be written; those of the next cycle may be.
        """
