"""
Rescales that replace the job: which jobs have them, what their decisions become, and when their intents are settled.

As pure functions. Between the old job and the new one nothing runs under the job's key: the intent alone tells that
there is something to look after, so it is never given up for having waited too long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from headgate.algorithm.bounds import EVERYWHERE, Room, common, room_of
from headgate.algorithm.history import aged
from headgate.algorithm.policies import is_held
from headgate.algorithm.price import weighed
from headgate.algorithm.resources import Rescale, quota_reached
from headgate.algorithm.rules import rules_of
from headgate.control import reports
from headgate.control.intents import MAX_NEGLECT, Settlement, reached, rejected
from headgate.control.outcomes import without_change
from headgate.model.decision import ConfigChanges, Decision, Outcome
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.reasons import Reason
from headgate.model.redeploy import Launch, Overlay, Redeploy, Start, number_of_way_back, successor_of
from headgate.model.samples import JobSample
from headgate.model.state import Intent, JobState
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.ports import JobContext

_WHOLE_JOB = "one parallelism for the whole job, the largest that one of its vertices needs"
_STAYS = "the whole job stays as it is"

_CAPPING = frozenset({Reason.SIGNAL_LIMIT, Reason.GATE, Reason.DECISION_PLUGIN})
"""Why a vertex may be lowered by what knows more than its load: no other vertex's need counts more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redeployment:
    """What is known of jobs beyond their own word, for rescales that replace them."""

    applies: Callable[[JobContext], bool] = lambda _: False
    """Whether a job's realizer is of this kind."""
    launch_of: Callable[[JobKey], Launch | None] = lambda _: None
    """The operator's launch spec for a job; it wins over one that was recorded."""
    options_of: Callable[[JobKey], AutoscalerOptions] = lambda _: AutoscalerOptions()
    """The operator's options for a job that cannot be asked for its own, because nothing of it runs."""

    def planned(self, ctx: JobContext, sample: JobSample, state: JobState, decision: Decision) -> Decision:
        """Give the decision as it can be made real: without what holds already, or with one parallelism for the job."""
        if decision.outcome is not Outcome.RESCALE or not self.applies(ctx):
            return decision
        decision = _without_known(decision, state)
        if decision.outcome is not Outcome.RESCALE or sample.settings.adaptive:
            return decision
        return self._as_one(ctx, sample, state, decision)

    def _as_one(self, ctx: JobContext, sample: JobSample, state: JobState, decision: Decision) -> Decision:
        followers = _followers(sample, self._job_wide(ctx.key, state))
        excluded = [vertex.name for vertex in followers if is_held(vertex, ctx.options)]
        cap, room = _cap_of(decision, followers), _room_of(state, followers, decision.at)
        whole = _with_one_parallelism(decision, () if excluded else followers, cap, room)
        if sick := room.why_not(_largest_wanted(whole, followers)):
            return without_change(whole, Reason.ROLLBACK_BOUND, f"{_STAYS}: {sick}")
        if whole.changes or whole.config != ConfigChanges():
            return _weighed(_within_quota(sample, whole, ctx.options), decision, ctx.options, state)
        if excluded:
            return without_change(whole, Reason.EXCLUDED, f"{', '.join(excluded)} is excluded, and holds the whole job")
        if cap is not None and cap.bites(decision, followers):
            return without_change(whole, cap.reason, f"{cap.name} holds the whole job: {cap.detail}")
        if sick := room.why_not(_largest_wanted(decision, followers)):
            return without_change(whole, Reason.ROLLBACK_BOUND, f"{_STAYS}: {sick}")
        running = max(vertex.parallelism for vertex in sample.topology.vertices)
        return without_change(whole, Reason.WHOLE_JOB, f"the whole job runs at {running}: {_WHOLE_JOB}")

    def of(self, ctx: JobContext, sample: JobSample, state: JobState, decision: Decision) -> Redeploy | None:
        """Give what is to be started instead of a running job; None where its realizer is of another kind."""
        if not self.applies(ctx):
            return None
        launch = self.launch_of(ctx.key) or state.launch
        followers = _followers(sample, self._job_wide(ctx.key, state))
        running = sample.topology.parallelism
        wanted = {**running, **{vertex: change.wanted for vertex, change in decision.changes.items()}}
        changed = state.overlay.then(state.deferred.overrides, state.deferred.removals)
        overlay = changed.then(decision.config.overrides, decision.config.removals)
        in_place = sample.settings.adaptive
        return Redeploy(
            launch=launch,
            successor=successor_of(sample.job_id),
            after=_start(wanted, followers, overlay, by_vertex=in_place),
            before=_start(running, followers, state.overlay, by_vertex=in_place),
            realizer=ctx.options.realizer,
        )

    def reversible(
        self, ctx: JobContext, sample: JobSample, state: JobState, before: Mapping[VertexId, int]
    ) -> Redeploy | None:
        """
        Give a redeploy that is over as one that can be taken back; None where the job's realizer is of another kind.

        With which configuration the job ran then is not known any more: it keeps the present one.
        """
        if not self.applies(ctx):
            return None
        followers = _followers(sample, self._job_wide(ctx.key, state))
        running, in_place = sample.topology.parallelism, sample.settings.adaptive
        return Redeploy(
            launch=self.launch_of(ctx.key) or state.launch,
            successor=sample.job_id,
            after=_start(running, followers, state.overlay, by_vertex=in_place),
            before=_start({**running, **before}, followers, state.overlay, by_vertex=in_place),
            realizer=ctx.options.realizer,
        )

    def _job_wide(self, job: JobKey, state: JobState) -> int | None:
        launch = self.launch_of(job) or state.launch
        return state.job_wide or (launch.parallelism if launch else None)


def stand_in(job: JobKey, intent: Intent, options: AutoscalerOptions) -> JobContext:
    """Give a context for a job of which nothing runs at the moment."""
    return JobContext(key=job, job_id=intent.job_id, status=JobStatus.OTHER, options=options)


def settle_redeploy(ctx: JobContext, state: JobState, now: datetime, *, sample: JobSample | None) -> Settlement:
    """
    Hold an open redeploy against what runs: its end, or that the realizer is to be asked how it goes.

    Args:
        ctx: the job.
        state: with the open intent.
        now: when the cycle began.
        sample: the job's latest; None while it is not seen running.
    """
    intent = state.intent
    if intent is None or intent.redeploy is None:
        return Settlement(state=state)
    state = replace(state, rejections=tuple(r for r in state.rejections if r.expires_at > now))
    if sample is not None and (end := _end(ctx, state, now, sample=sample)):
        return Settlement(state=end)
    if now >= intent.deadline and not intent.attempts:
        event = reports.slow(ctx.key, intent, now)
        state = replace(state, intent=replace(intent, attempts=1), outbox=(*state.outbox, event))
    return Settlement(state=state, in_flight=True, request=True)


def may_begin(intent: Intent, now: datetime) -> bool:
    """Tell whether a redeploy is still worth beginning; one that has begun is finished whenever that is."""
    return now - intent.deadline <= MAX_NEGLECT


def _end(ctx: JobContext, state: JobState, now: datetime, *, sample: JobSample) -> JobState | None:
    """Give the state after the intent's end, if what runs is one."""
    intent = state.intent
    if intent is None or intent.redeploy is None:
        return None
    redeploy, options = intent.redeploy, ctx.options
    after = redeploy.after
    is_back = number_of_way_back(sample.job_id, intent.job_id) is not None
    if sample.job_id not in {intent.job_id, redeploy.successor} and not is_back:
        event = reports.overtaken(sample.job, intent, now)
        return replace(state, intent=None, job_wide=None, outbox=(*state.outbox, event))
    if sample.job_id != redeploy.successor:
        return None
    runs_so = replace(state, overlay=after.overlay, deferred=Overlay(), job_wide=after.parallelism)
    if _runs_as_wanted(sample, intent):
        return reached(sample, runs_so, intent, now, options)
    if now < intent.deadline:
        return None
    why = f"runs at {reports.parallelism_text(sample.topology, intent.after)}"
    event = reports.not_reached(sample.job, intent, why, now, options.rejection_expiry)
    return rejected(runs_so, why, now, options, event)


def _without_known(decision: Decision, state: JobState) -> Decision:
    """Leave out configuration that the job was started with: a plugin that sets it again wants no other start."""
    config = decision.config
    if state.deferred or state.overlay.then(config.overrides, config.removals) != state.overlay:
        return decision
    known = replace(decision, config=ConfigChanges())
    if known.changes:
        return known
    message = f"the job runs with {', '.join(config.entries)} already: {decision.message}"
    return without_change(known, Reason.LIMITED, message)


def _runs_as_wanted(sample: JobSample, intent: Intent) -> bool:
    """Compare what there is: another parallelism may chain operators, and with that vertices, otherwise."""
    running = sample.topology.parallelism
    return all(running.get(vertex, wanted) == wanted for vertex, wanted in intent.after.items())


def _followers(sample: JobSample, job_wide: int | None) -> tuple[Vertex, ...]:
    """Give the vertices that have the parallelism of the whole job: a program may give some of them their own."""
    running = tuple(vertex for vertex in sample.topology.vertices if not vertex.finished)
    following = tuple(vertex for vertex in running if vertex.parallelism == job_wide)
    return following or running


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cap:
    """What a vertex may not grow above, and with that the whole job."""

    name: str
    most: int
    reason: Reason
    detail: str

    def bites(self, decision: Decision, followers: tuple[Vertex, ...]) -> bool:
        """Tell whether the whole job would grow above it."""
        return _largest_wanted(decision, followers) > self.most


def _cap_of(decision: Decision, followers: tuple[Vertex, ...]) -> _Cap | None:
    """Give the smallest of what somebody else has set; it limits growth, and nothing shrinks for it."""
    names = {vertex.id for vertex in followers}
    caps = (
        _Cap(name=each.name, most=max(each.wanted, each.current), reason=step.reason, detail=step.detail)
        for each in decision.proposals
        for step in each.steps
        if each.vertex in names and step.reason in _CAPPING and step.after < step.before
    )
    return min(caps, key=lambda cap: cap.most, default=None)


def _room_of(state: JobState, followers: tuple[Vertex, ...], now: datetime) -> Room:
    """Give what the bounds of the followers leave to all of them."""
    return common(room_of(state.bounds, vertex.id, vertex.parallelism, now) for vertex in followers)


def _largest_wanted(decision: Decision, followers: tuple[Vertex, ...]) -> int:
    names = {vertex.id for vertex in followers}
    return max((proposal.wanted for proposal in decision.proposals if proposal.vertex in names), default=1)


def _with_one_parallelism(decision: Decision, followers: tuple[Vertex, ...], cap: _Cap | None, room: Room) -> Decision:
    names = {vertex.id for vertex in followers}
    most = _largest_wanted(decision, followers)
    bounds = [vertex.largest for vertex in followers] + ([cap.most] if cap else [])
    target = min([most, *bounds]) if followers else most
    # Where they run apart, what holds one of them back would move another one: then the job stays as it is.
    held = room if len({vertex.parallelism for vertex in followers}) == 1 else EVERYWHERE
    proposals = tuple(
        held.holding(proposal.limited_to(target, Reason.WHOLE_JOB, _WHOLE_JOB))
        if proposal.vertex in names
        else proposal.limited_to(proposal.current, Reason.WHOLE_JOB, _WHOLE_JOB)
        for proposal in decision.proposals
    )
    return replace(decision, proposals=proposals)


def _within_quota(sample: JobSample, decision: Decision, options: AutoscalerOptions) -> Decision:
    rescale = Rescale.of(sample.topology, decision.proposals)
    sound = Deviation.TRUE_QUOTA in rules_of(options)
    quota = quota_reached(rescale, sample.settings, options, true_total=sound)
    if quota is None:
        return decision
    kept = without_change(decision, Reason.RESOURCE_QUOTA, quota.message)
    return replace(kept, notices=(*decision.notices, quota), config=ConfigChanges())


def _weighed(decision: Decision, before: Decision, options: AutoscalerOptions, state: JobState) -> Decision:
    """
    Weigh a rescale anew that has become another one: where all stay for one vertex, less is saved.

    What had no price has none now: a reactive job gives slots up that are no longer its own, whatever that costs.
    """
    if not decision.changes or decision.proposals == before.proposals:
        return decision
    if decision.evaluated is None or before.price is None:
        return decision
    history = aged(state, decision.at, options).history
    return weighed(decision, decision.evaluated, options, history)


def _start(
    wanted: Mapping[VertexId, int], followers: tuple[Vertex, ...], overlay: Overlay, *, by_vertex: bool
) -> Start:
    most = max((wanted[vertex.id] for vertex in followers), default=1)
    if not by_vertex:
        return Start(parallelism=most, overlay=overlay)
    # The whole job's parallelism must be one that every vertex can have; then each is told its own.
    bound = min((vertex.max_parallelism for vertex in followers), default=most)
    return Start(parallelism=min(most, bound), vertices=wanted, overlay=overlay)
