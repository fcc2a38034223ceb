"""Jobs that no cluster lists as alive, and that are to be cared for all the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from headgate.control.observation import Observation
from headgate.control.outbox import Held, Outbox
from headgate.control.redeployment import stand_in
from headgate.control.rollback.trials import trial_of
from headgate.control.threads import in_threads
from headgate.model.identity import JobKey
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.state import VersionedState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlisted:
    """
    Finds jobs that a redeploy has stopped and not started yet, and those that have failed since their rescale.

    Also those that have failed and whose last rescale somebody orders to be taken back: it can be told at least.
    """

    outbox: Outbox
    options_of: Callable[[JobKey], AutoscalerOptions]
    """The operator's options for a job that cannot be asked for its own."""

    async def find(self, seen: Collection[JobKey], failed: Mapping[JobKey, JobContext]) -> Mapping[JobKey, Observation]:
        """
        Find them in the store, and among the jobs that have ended by a failure.

        Events that wait of other jobs that are gone leave on the way, when those are opened.

        Raises:
            UnreachableError: the store did not answer.
        """
        in_flight = await in_threads(self.outbox.threads, self.outbox.store.in_flight)
        absent = [job for job in sorted({*in_flight, *failed}) if job not in seen and self.outbox.looks_after(job)]
        opened = await self.outbox.open_all(absent)
        ended = {job: self.outbox.book.applied(ctx) for job, ctx in failed.items()}
        found = {job: await self._between(job, held) or _failed(held, ended.get(job)) for job, held in opened.items()}
        return {job: observation for job, observation in found.items() if observation}

    async def _between(self, job: JobKey, held: Held) -> Observation | None:
        intent = held.state.intent if isinstance(held, VersionedState) else None
        if intent is None or intent.redeploy is None or not await self.outbox.may_act(job):
            return None
        return _down(stand_in(job, intent, self.options_of(job)), "nothing of it runs now")


def _failed(held: Held, ctx: JobContext | None) -> Observation | None:
    trial = trial_of(held.state) if isinstance(held, VersionedState) else None
    if ctx is None:
        return None
    is_on_trial = trial is not None and ctx.job_id == trial.runs_as
    return _down(ctx, f"the job is {ctx.status}") if is_on_trial or ctx.orders.rollback else None


def _down(ctx: JobContext, why: str) -> Observation:
    return Observation(ctx=ctx, problem=NotReady(reason=Reason.JOB_NOT_RUNNING, message=why))
