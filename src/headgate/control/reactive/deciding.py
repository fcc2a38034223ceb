"""
Deciding for reactive jobs by the slots that there are; every other job is decided for as usual.

The ordinary evaluation goes on for all of them: what a job's load asks for is what its cluster's workers follow.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headgate.algorithm.alignment import AlignmentMode
from headgate.algorithm.reactive.decide import Reaction, kept, needed_slots, react
from headgate.algorithm.reactive.slots import groups_of, slots_of
from headgate.algorithm.resources import task_managers
from headgate.algorithm.review import Chain
from headgate.control.deciding import Answer, Decider
from headgate.control.outcomes import without_change
from headgate.control.reactive import reports
from headgate.control.reactive.asking import BuiltInPolicies, Policies
from headgate.control.reactive.fitness import Fitness
from headgate.control.reactive.ledger import Hold, Ledger, Standing
from headgate.control.reactive.sharing import is_reactive
from headgate.errors import PluginError
from headgate.model.decision import ADVISORY, Decision, Outcome
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.rollback import Evidence
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.options.reactive import Demand
from headgate.options.units import format_duration
from headgate.plugins.reports import failure_noticed
from headgate.ports import AvailableResources, EventHandler, JobContext

_SETTLED = {Reason.BALANCED, Reason.SLOTS_SHORT}
"""Reasons for which a job stays at what it runs on until its share is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactiveDecider:
    """Decides for reactive jobs, and leaves the others to the usual decider. A `control.deciding.Decider`."""

    usual: Decider
    events: EventHandler
    ledger: Ledger = field(default_factory=Ledger)
    """Offered the shares of the jobs before a cycle decides; learns what each needs."""
    policies: Policies = field(default_factory=BuiltInPolicies)
    fitness: Fitness = field(default_factory=Fitness)

    async def examine(self, ctx: JobContext, answer: Answer, now: datetime) -> Evidence | None:
        """Examine as usual."""
        return await self.usual.examine(ctx, answer, now)

    async def review(self, ctx: JobContext, decision: Decision, chain: Chain) -> Decision:
        """Review as usual."""
        return await self.usual.review(ctx, decision, chain)

    async def decide(
        self, ctx: JobContext, sample: JobSample, answer: Answer, now: datetime, state: JobState
    ) -> Decision:
        """Decide by the slots for a reactive job, as usual for any other."""
        if not is_reactive(ctx.options):
            decision = await self.usual.decide(ctx, sample, answer, now, state)
            self._learn(ctx, sample, answer, decision)
            return decision
        need = await self._need(ctx, sample, answer, now, state)
        self._learn(ctx, sample, answer, need)
        jobs = self.ledger.jobs.get(ctx.key.cluster, 1)
        if why := await self.fitness.why_not(ctx, sample, jobs=jobs, now=now):
            self.events.handle(reports.unsuitable(ctx.key, why, now, ctx.options.scaling_event_interval))
            return kept(need, sample, Reason.REACTIVE_UNSUITABLE, f"not fit for reactive mode: {'; '.join(why)}")
        if sample.settings.reactive:
            return self._left_to_engine(ctx, sample, need)
        decision = await self._react(ctx, sample, need, now, state)
        self._hold(ctx, sample, decision)
        return decision

    async def _need(
        self, ctx: JobContext, sample: JobSample, answer: Answer, now: datetime, state: JobState
    ) -> Decision:
        """
        Give what the load asks for.

        Who follows the slots alone does not wait to shrink, which is done by the workers after their own interval, and
        is not aligned: how its subtasks divide the slots is its policy's business.
        """
        if ctx.options.reactive.demand is Demand.NEED and not sample.settings.reactive:
            return await self.usual.decide(ctx, sample, answer, now, state)
        options = replace(ctx.options, scale_down_interval=timedelta(), alignment_mode=AlignmentMode.OFF)
        at_once = replace(ctx, options=options)
        need = await self.usual.decide(at_once, sample, answer, now, state)
        return replace(need, delayed=None, notices=())

    def _learn(self, ctx: JobContext, sample: JobSample, answer: Answer, decision: Decision) -> None:
        """Remember the slots that the job needs, if its numbers tell and anybody wants to know."""
        matters = ctx.key.cluster in self.ledger.steered or is_reactive(ctx.options)
        if isinstance(answer, NotReady) or not decision.proposals or not matters:
            return
        is_made = decision.reason not in ADVISORY
        slots = needed_slots(decision, sample) if is_made else slots_of(sample.topology)
        standing = self.ledger.standings.get(ctx.key)
        if standing:
            slots = min(max(slots, standing.wish.least), standing.wish.most)
        elif is_reactive(ctx.options):
            slots = max(slots, ctx.options.reactive.min_parallelism)
        self.ledger.needs[ctx.key] = slots

    def _left_to_engine(self, ctx: JobContext, sample: JobSample, need: Decision) -> Decision:
        used, needed = slots_of(sample.topology), self.ledger.needs.get(ctx.key)
        asks = "what its load needs is not known yet" if needed is None else f"its load needs {needed}"
        message = f"the engine runs it on all its slots by itself, {used} now; {asks}: only its workers are changed"
        if needed is None:
            return kept(need, sample, Reason.ENGINE_REACTIVE, message)
        return without_change(need, Reason.ENGINE_REACTIVE, message)

    async def _react(
        self, ctx: JobContext, sample: JobSample, need: Decision, now: datetime, state: JobState
    ) -> Decision:
        standing = self.ledger.standings.get(ctx.key)
        if obstacle := _obstacle(ctx, sample, standing):
            return kept(need, sample, *obstacle)
        slots, total = (standing.slots_for(sample), standing.total) if standing else (0, 0)
        workers = task_managers(total, sample.settings.slots_per_task_manager)
        resources = AvailableResources(slots=slots, total=total, workers=workers)
        configured = state.first.parallelism if state.first else sample.topology.parallelism
        try:
            wanted = await self.policies.ask(ctx, resources, sample.topology, configured)
        except PluginError as error:
            failed = kept(need, sample, Reason.PLUGIN_FAILED, f"its scaling policy failed, it stays as it is: {error}")
            return replace(failed, notices=(*failed.notices, failure_noticed(error)))
        reaction = Reaction(
            sample=sample,
            options=ctx.options,
            state=state,
            now=now,
            slots=slots,
            total=total,
            wanted=wanted,
            need=need,
        )
        return await self.usual.review(ctx, react(reaction), reaction)

    def _hold(self, ctx: JobContext, sample: JobSample, decision: Decision) -> None:
        """
        Let the engine give a job that stays as it is no more than it runs on, once its share has become smaller.

        It was asked for more before slots were lost, and would take that from another job at the next restart. A job
        that has its cluster for itself may have all that comes back.
        """
        standing = self.ledger.standings.get(ctx.key)
        if standing is None or standing.offers.settled is None or self.ledger.jobs.get(ctx.key.cluster, 1) == 1:
            return
        slots = standing.slots_for(sample)
        stays = decision.outcome is Outcome.KEEP and decision.reason is not Reason.SLOTS_UNSETTLED
        if stays and (decision.reason in _SETTLED or self.ledger.has_shrunk(ctx.key, slots)):
            parallelism = sample.topology.parallelism
            self.ledger.holds[ctx.key] = Hold(job_id=sample.job_id, slots=slots, parallelism=parallelism)


def _obstacle(ctx: JobContext, sample: JobSample, standing: Standing | None) -> tuple[Reason, str] | None:
    """Say why nothing is decided by the slots now; who lacks slots and has those of others gives them up."""
    options = ctx.options.reactive
    if standing is None:
        return Reason.SLOTS_UNSETTLED, "how many slots its cluster has is not known"
    offers, least = standing.offers, standing.wish.least
    if offers.settled is None:
        wait = format_duration(options.resource_stabilization)
        return Reason.SLOTS_UNSETTLED, f"a share of {offers.latest} slots has not been there for {wait} yet"
    if offers.latest < offers.settled:
        wait = format_duration(options.lost_worker_timeout)
        lost = f"{offers.settled - offers.latest} of its {offers.settled} slots are lost"
        return Reason.SLOTS_UNSETTLED, f"{lost}, which have {wait} to come back"
    has_others = slots_of(sample.topology) > max(offers.latest, groups_of(sample.topology))
    if offers.settled < least and offers.latest < least and not has_others:
        return Reason.SLOTS_SHORT, f"{offers.latest} of the {least} slots that it needs at least are there for it"
    return None
