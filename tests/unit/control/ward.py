"""A job that its rescale makes sick, and a doctor: what the stories of rollbacks begin with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from headgate.control.deciding import Answer, PlainDecider
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.rollback import Aftermath, Evidence
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.rollback import RollbackOptions
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS
from headgate.testing.scenario import Scenario

AGG = VertexId("agg")
BROKEN = JobKey("prod", "broken")


@dataclass(frozen=True)
class Doctor(PlainDecider):
    """Condemns a job whose rescale is under observation and that is down, or runs at what is too many."""

    too_many: int | None = None

    async def examine(self, ctx: JobContext, _answer: Answer, _now: datetime) -> Evidence | None:
        """Say so."""
        aftermath = ctx.aftermath
        if aftermath is None or not self._is_sick(aftermath):
            return None
        return Evidence(checker="never-running", found="it does not run")

    def _is_sick(self, aftermath: Aftermath) -> bool:
        heavy = self.too_many is not None and aftermath.running.get(AGG, 0) >= self.too_many
        return heavy or aftermath.status is not JobStatus.RUNNING


def options(**rollback: object) -> AutoscalerOptions:
    """Return options of a job that is decided for at once."""
    chosen = replace(RollbackOptions(), **rollback)  # type: ignore[arg-type]
    return AutoscalerOptions(rollback=chosen)


def lie_down(ward: Scenario, status: JobStatus = JobStatus.RESTARTING, **changes: object) -> None:
    """Let the job fail over."""
    ward.engine.contexts[ORDERS] = replace(ward.engine.contexts[ORDERS], status=status, **changes)  # type: ignore[arg-type]


def get_up(ward: Scenario) -> None:
    """Let the job run."""
    lie_down(ward, JobStatus.RUNNING)


def state(ward: Scenario) -> JobState:
    """Return what is remembered of the job."""
    return ward.store.load(ORDERS).state


def told(ward: Scenario, reason: EventReason) -> list[str]:
    """Return the messages of one kind of event."""
    return [event.message for event in ward.events.told if event.reason is reason]


async def fall_ill(ward: Scenario) -> None:
    """Let the job be rescaled from 1 to 4, and then fail over."""
    await ward.tick(0)
    ward.factors = {}
    await ward.tick(30)
    lie_down(ward)
