"""
The rollback's place in a cycle: before anything else, and for jobs that do not run above all.

What is remembered of a rescale is in the job's state alone: Headgate may have been killed between it and the verdict.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headgate.algorithm.history import restart_time
from headgate.algorithm.rollback import foreign_change
from headgate.control.observation import AWAY, Observation
from headgate.control.rollback import reports
from headgate.control.rollback.judging import Judged, fresh, raised, rolled_back, unrecoverable
from headgate.control.rollback.means import Means
from headgate.control.rollback.memory import MemoryRaise, NoMemoryRaise
from headgate.control.rollback.trials import Failures, aged, concluded, observed, trial_of, with_trial
from headgate.model.reasons import Reason
from headgate.model.rollback import Aftermath, Evidence, Trial
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.ports import EventHandler, FailureHistory, JobContext

FAILURES_LIMIT = timedelta(seconds=10)
"""How long a job's failures are waited for: without them the verdict comes a cycle later."""

MEMORY_LIMIT = timedelta(seconds=30)
"""How long it may take to ask for more memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackStep:
    """Gathers what became of rescales of ours, and asks for more memory where that may help."""

    failures: FailureHistory | None = None
    """None: nobody remembers failures."""
    memory: MemoryRaise = field(default_factory=NoMemoryRaise)
    _means: Means = field(default_factory=Means, init=False)

    async def observe(
        self, seen: Observation, state: JobState, now: datetime, events: EventHandler
    ) -> tuple[JobState, JobContext]:
        """Note what became of the job's latest rescale, and give the job with it, for the checkers."""
        ctx, state = seen.ctx, aged(state, now)
        trial = trial_of(state)
        if trial is None:
            self._means.forget(ctx.key)
            return state, ctx
        if not _can_be_observed(seen, state):
            return state, ctx
        sample, (before, failures) = fresh(seen), await self._failures(ctx, state, trial, now, events)
        trial = _granted(observed(trial, seen, sample, failures, now), state, sample)
        if sample is not None and foreign_change(trial, ctx.job_id, ctx.started_at, sample):
            return concluded(state), ctx  # it runs, and is somebody else's from now on
        state = with_trial(state, trial)
        aftermath = Aftermath(
            trial=trial,
            now=now,
            status=ctx.status,
            down_since=trial.down_since,
            running=sample.topology.parallelism if sample else {},
            failures=failures,
            failures_before=before,
            restart_time=restart_time(ctx.options, state.history),
            given_up=state.intent is None and trial.reached_at is None,
            values=self._means.with_sample(ctx.key, trial, sample),
        )
        return state, replace(ctx, aftermath=aftermath)

    async def raise_memory(self, seen: Observation, state: JobState, sick: Evidence) -> Judged:
        """Ask for more memory, as was saved before; where that cannot be had the rescale is taken back."""
        ctx = seen.ctx
        if ctx.aftermath is None:
            return Judged(state=state, obstacle=unrecoverable(sick))
        why_not = await self._ask(ctx, ctx.aftermath.trial, sick, seen.sample)
        if why_not is None:
            return raised(seen, state, sick)
        return rolled_back(seen, state, sick, f"its memory was not raised: {why_not}")

    async def _ask(self, ctx: JobContext, trial: Trial, evidence: Evidence, sample: JobSample | None) -> str | None:
        try:
            async with asyncio.timeout(MEMORY_LIMIT.total_seconds()):
                return await self.memory.raise_for(ctx, trial, evidence, sample)
        except TimeoutError:
            return f"no answer within {MEMORY_LIMIT.total_seconds():g} s"
        except Exception as error:  # noqa: BLE001 - whatever it is, the rescale can still be taken back
            return str(error) or type(error).__name__

    async def _failures(
        self, ctx: JobContext, state: JobState, trial: Trial, now: datetime, events: EventHandler
    ) -> tuple[Failures, Failures]:
        """Give those shortly before the job was last well, and those since the rescale; none where nobody tells."""
        # What failed before a rollback was reached was still the sick job.
        since = trial.reached_at if trial.takes_back else trial.began_at
        if self.failures is None or since is None:
            return (), ()
        well_until = trial.well_until or since
        earliest = well_until - ctx.options.rollback.restart_window if trial.well_until else since
        try:
            async with asyncio.timeout(FAILURES_LIMIT.total_seconds()):
                known = await self.failures.query_failures(ctx, earliest)
        except Exception as error:  # noqa: BLE001 - what can be told without them is told, whatever failed here
            if isinstance(error, TimeoutError):
                error = TimeoutError(f"no answer within {FAILURES_LIMIT.total_seconds():g} s")
            if state.intent is None or not isinstance(error, AWAY):
                events.handle(reports.failures_unknown(ctx, str(error) or type(error).__name__, now))
            return (), ()
        before = tuple(failure for failure in known.failures if earliest <= failure.at < well_until)
        return before, tuple(failure for failure in known.failures if failure.at >= since)


def _granted(trial: Trial, state: JobState, sample: JobSample | None) -> Trial:
    """Note whether the engine has ever given the job any of what was wanted, where its time for it is over."""
    if sample is None or trial.granted or trial.redeploy or sample.job_id != trial.runs_as:
        return trial
    before, running = trial.before.parallelism, sample.topology.parallelism
    if any(running.get(vertex) != before.get(vertex) for vertex in trial.after):
        return replace(trial, granted=True)
    is_late = state.intent is None or state.intent.attempts > 0
    return replace(trial, granted=False) if is_late else trial


def _can_be_observed(seen: Observation, state: JobState) -> bool:
    """Tell whether a job can be judged: its cluster answers, and no redeploy is at work on it."""
    if not seen.ctx.options.enabled or (state.intent and state.intent.redeploy):
        return False
    return seen.problem is None or seen.problem.reason is not Reason.JOB_UNREACHABLE
