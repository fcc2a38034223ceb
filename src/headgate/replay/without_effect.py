"""The ports of a job's care for a past that nothing can change any more: nothing is saved, asked for or told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headgate.control.outbox import Outbox
from headgate.control.redeployment import Redeployment
from headgate.model.decision import Decision
from headgate.model.events import Event
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState, VersionedState
from headgate.ports import EventHandler, JobContext
from headgate.replay.past import Recorded
from headgate.stores.memory import MemoryStateStore

_ANSWERS = frozenset(
    {
        Reason.TOPOLOGY_CHANGED,
        Reason.PARALLELISM_REJECTED,
        Reason.CONFIGURATION_CHANGED,
        Reason.CONFIGURATION_DEFERRED,
        Reason.BALANCED,
    }
)
"""What a rescale that was asked for may come to by what the cluster says."""


class Unheard:
    """Takes events, and tells nobody: they were told when they were true."""

    def handle(self, event: Event, /) -> None:
        """Drop an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook(Outbox):
    """Keeps a job's state for as long as one decision takes."""

    store: MemoryStateStore = field(default_factory=MemoryStateStore)
    events: EventHandler = field(default_factory=Unheard)
    saved: dict[JobKey, JobState] = field(default_factory=dict)

    async def save(self, job: JobKey, held: VersionedState, state: JobState) -> VersionedState:
        """Note the state."""
        self.saved[job] = state
        return VersionedState(state=state, version=held.version)

    async def may_act(self, _job: JobKey) -> bool:
        """Let everything be decided as by the process that looked after the job."""
        return True


@dataclass(slots=True, kw_only=True)
class AnsweredBefore:
    """
    Asks no engine: to the same request the cluster's answer is the recorded one, and any other request is granted.

    Attributes:
        recorded: what was decided then.
        redeployment: which jobs are rescaled by one.
        repeated: whether a request was made again that an earlier decision had begun; its answer was not recorded.
    """

    recorded: Recorded
    redeployment: Redeployment
    repeated: bool = False

    async def rescale(
        self,
        _ctx: JobContext,
        _sample: JobSample,
        _held: VersionedState,
        decision: Decision,
        *,
        late: timedelta,  # noqa: ARG002 - how late it was changes nothing of what was decided
    ) -> Decision:
        """Give the decision with what came of it."""
        before = self.recorded.decision
        if before.id != decision.id:
            return decision
        if before.reason in _ANSWERS and not before.acts:
            return replace(decision, outcome=before.outcome, reason=before.reason, message=before.message, acts=False)
        told = before.message if before.message.startswith(decision.message) else decision.message
        return replace(decision, message=told)

    async def hold(self, _ctx: JobContext, _sample: JobSample, _now: datetime) -> bool:
        """Ask for nothing."""
        return True

    async def request(self, _ctx: JobContext, held: VersionedState, _now: datetime) -> VersionedState:
        """Leave the intent open, as it was when the engine was asked again."""
        self.repeated = True
        return held
