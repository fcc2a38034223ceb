"""What becomes of decisions and of configuration, where a rescale replaces the job and where it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from headgate.control.redeployment import Redeployment, settle_redeploy
from headgate.errors import HeadgateError, RefusedError, UnreachableError
from headgate.model.decision import ConfigChanges, Decision, Outcome
from headgate.model.downtime import Downtime
from headgate.model.events import EventReason
from headgate.model.forecast import Price
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.redeploy import Launch, Overlay, Redeploy, successor_of
from headgate.model.rollback import ParallelismBound, Side
from headgate.model.samples import EngineSettings, JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, at, chain, context, evaluated, sample
from headgate.testing.fakes import FakeEngine
from headgate.testing.redeploying import decision_for
from headgate.testing.scenario import Scenario

FIXED = EngineSettings(adaptive=False)
LAUNCH = Launch(jar="job.jar", parallelism=2)
BY_REDEPLOY = Redeployment(applies=lambda _: True, launch_of=lambda _: LAUNCH)


def orders(*, adaptive: bool = False, job_id: str = "j1", agg: int = 2) -> JobSample:
    """Return source (2) -> agg (2) -> sink (1)."""
    graph = chain({"source": 2, "agg": agg, "sink": 1}, max_parallelism=8)
    return sample(graph, settings=replace(FIXED, adaptive=adaptive), job_id=job_id)


def planned(running: JobSample, wanted: dict[str, int], state: JobState | None = None) -> Decision:
    """Return what a redeploy makes of a wish."""
    decision = decision_for(running, wanted, {}, at(0))
    return BY_REDEPLOY.planned(context(), running, state or JobState(), decision)


def redeploy(running: JobSample, wanted: dict[str, int], state: JobState | None = None) -> Redeploy:
    """Return the redeploy of a wish."""
    made = BY_REDEPLOY.of(context(), running, state or JobState(), planned(running, wanted, state))
    assert made
    return made


def test_the_whole_job_gets_the_largest_parallelism_that_one_vertex_needs() -> None:
    """The sink does not run at the job's own parallelism: its program holds it, so it is left out."""
    decision = planned(orders(), {"agg": 5})
    assert {change.name: change.wanted for change in decision.changes.values()} == {"source": 5, "agg": 5}
    assert redeploy(orders(), {"agg": 5}).after.parallelism == 5
    source = next(proposal for proposal in decision.proposals if proposal.name == "source")
    assert source.steps[-1].reason is Reason.WHOLE_JOB


def test_a_whole_job_shrinks_only_when_all_may() -> None:
    """One that needs its two subtasks keeps all of them at two, and that is said."""
    decision = planned(orders(), {"agg": 1})
    assert (decision.reason, decision.changes) == (Reason.WHOLE_JOB, {})
    assert "the whole job runs at 2" in decision.message


def test_the_whole_job_stays_below_the_smallest_bound() -> None:
    """No vertex goes above its own maximum because another one needs more."""
    assert redeploy(orders(), {"agg": 30}).after.parallelism == 8


def sick(vertex: str, parallelism: int, side: Side) -> JobState:
    """Return what is remembered of a job that a parallelism of one vertex made sick."""
    bound = ParallelismBound(
        vertex=VertexId(vertex), parallelism=parallelism, side=side, expires_at=at(60), why="it failed"
    )
    return JobState(bounds=(bound,))


def test_the_whole_job_stays_below_what_made_one_vertex_sick() -> None:
    """Also when another vertex needs more; the trail names the bound."""
    decision = planned(orders(), {"agg": 5}, sick("source", 4, Side.BELOW))
    assert {change.name: change.wanted for change in decision.changes.values()} == {"source": 3, "agg": 3}
    assert {change.steps[-1].reason for change in decision.changes.values()} == {Reason.ROLLBACK_BOUND}


def test_the_whole_job_stays_above_what_made_one_vertex_sick() -> None:
    """It shrinks less far than it might."""
    running = sample(chain({"source": 6, "agg": 6}), settings=FIXED)
    decision = planned(running, {"source": 2, "agg": 2}, replace(sick("agg", 3, Side.ABOVE), job_wide=6))
    assert {change.name: change.wanted for change in decision.changes.values()} == {"source": 4, "agg": 4}


def test_a_bound_may_leave_the_whole_job_no_change() -> None:
    """Then it is said to be the reason; a bound of a vertex that has its own parallelism holds nobody else."""
    kept = planned(orders(), {"agg": 5}, sick("source", 3, Side.BELOW))
    assert (kept.reason, kept.changes) == (Reason.ROLLBACK_BOUND, {})
    assert kept.message.startswith("the whole job stays as it is: with 3 subtasks or more the job was sick: it failed")
    assert planned(orders(), {"agg": 5}, sick("sink", 2, Side.BELOW)).changes


def test_vertices_that_run_apart_are_not_moved_by_each_others_bounds() -> None:
    """One parallelism for all would shrink one of them for the other: the job stays as it is."""
    running = sample(chain({"source": 2, "agg": 4}), settings=FIXED)
    kept = planned(running, {"agg": 6}, replace(sick("source", 3, Side.BELOW), job_wide=9))
    assert (kept.reason, kept.changes) == (Reason.ROLLBACK_BOUND, {})


def test_an_excluded_vertex_holds_the_whole_job() -> None:
    """It cannot stay where it is while the others move."""
    ctx = context(options=AutoscalerOptions(vertex_exclude_ids=("source",)))
    decision = decision_for(orders(), {"agg": 5}, {}, at(0))
    kept = BY_REDEPLOY.planned(ctx, orders(), JobState(), decision)
    assert (kept.reason, kept.changes) == (Reason.EXCLUDED, {})
    assert kept.message == "source is excluded, and holds the whole job"


def test_a_held_vertex_is_known_by_what_the_job_was_started_with_last() -> None:
    """Headgate's own last start counts more than the launch spec's first one."""
    graph = chain({"source": 4, "agg": 4, "sink": 2})
    running = sample(graph, settings=FIXED)
    decision = planned(running, {"agg": 5}, JobState(job_wide=4))
    assert {change.name for change in decision.changes.values()} == {"source", "agg"}


def test_the_adaptive_scheduler_gives_each_vertex_its_own() -> None:
    """It takes them right after the start; the way back names each as well."""
    made = redeploy(orders(adaptive=True), {"agg": 5})
    assert dict(made.after.vertices) == {"source": 2, "agg": 5, "sink": 1}
    assert dict(made.before.vertices) == {"source": 2, "agg": 2, "sink": 1}
    assert made.after.parallelism == 5


def test_what_was_changed_before_goes_with_the_next_start() -> None:
    """Kept configuration, what had to wait for a start, and what is decided now: the later one wins."""
    state = JobState(
        overlay=Overlay(overrides={"a": "1", "b": "1", "c": "1"}),
        deferred=Overlay(overrides={"b": "2"}, removals=frozenset({"c"})),
    )
    made = redeploy(orders(), {"agg": 5}, state)
    assert made.after.overlay == Overlay(overrides={"a": "1", "b": "2"}, removals=frozenset({"c"}))
    assert made.before.overlay == state.overlay
    assert made.after.overlay.over({"c": "0", "d": "0"}) == {"a": "1", "b": "2", "d": "0"}


@pytest.mark.parametrize("adaptive", [True, False])
def test_configuration_that_the_job_has_already_is_no_reason_to_replace_it(*, adaptive: bool) -> None:
    """A plugin may set it in every cycle: the job is not started anew each time."""
    running, interval = orders(adaptive=adaptive), {"execution.checkpointing.interval": "7 s"}
    decision = decision_for(running, {}, interval, at(0))
    kept = BY_REDEPLOY.planned(context(), running, JobState(overlay=Overlay(overrides=interval)), decision)
    assert (kept.outcome, kept.reason) == (Outcome.KEEP, Reason.LIMITED)
    assert "execution.checkpointing.interval=7 s" in kept.message
    for other in (Overlay(), Overlay(overrides={"execution.checkpointing.interval": "9 s"})):
        assert BY_REDEPLOY.planned(context(), running, JobState(overlay=other), decision) == decision


def test_growth_goes_on_with_the_configuration_that_the_job_has_already() -> None:
    """The next start has it as well."""
    running, interval = orders(adaptive=True), {"execution.checkpointing.interval": "7 s"}
    state = JobState(overlay=Overlay(overrides=interval))
    decision = BY_REDEPLOY.planned(context(), running, state, decision_for(running, {"agg": 5}, interval, at(0)))
    made = BY_REDEPLOY.of(context(), running, state, decision)
    assert made
    assert (decision.outcome, made.after.overlay) == (Outcome.RESCALE, state.overlay)


def lowered(decision: Decision, name: str, to: int, reason: Reason) -> Decision:
    """Return a decision in which something else has lowered a wish."""
    proposals = (
        each.limited_to(to, reason, f"lowered to {to}") if each.name == name else each for each in decision.proposals
    )
    return replace(decision, proposals=tuple(proposals))


@pytest.mark.parametrize("reason", [Reason.SIGNAL_LIMIT, Reason.GATE, Reason.DECISION_PLUGIN])
def test_the_whole_job_grows_no_further_than_one_vertex_was_allowed_to(reason: Reason) -> None:
    """What knows more than the load has held a vertex: another one's need does not override it."""
    decision = lowered(decision_for(orders(), {"source": 6, "agg": 8}, {}, at(0)), "source", 3, reason)
    whole = BY_REDEPLOY.planned(context(), orders(), JobState(), decision)
    assert {change.name: change.wanted for change in whole.changes.values()} == {"source": 3, "agg": 3}
    held = lowered(decision_for(orders(), {"source": 6, "agg": 8}, {}, at(0)), "source", 2, reason)
    kept = BY_REDEPLOY.planned(context(), orders(), JobState(), held)
    assert (kept.outcome, kept.reason) == (Outcome.KEEP, reason)
    assert kept.message == "source holds the whole job: lowered to 2"


def test_nothing_shrinks_because_a_vertex_was_lowered() -> None:
    """The others need what they have: a cap is for growth."""
    decision = lowered(decision_for(orders(), {"agg": 2}, {}, at(0)), "source", 1, Reason.DECISION_PLUGIN)
    whole = BY_REDEPLOY.planned(context(), orders(), JobState(), decision)
    assert (whole.reason, whole.changes) == (Reason.WHOLE_JOB, {})


PATIENT = context(options=AutoscalerOptions(restart_time_tracking_limit=timedelta(hours=1)))
PRICED = Price(downtime_s=1.0, cost_s=8.0, saved_s=10_800.0, horizon=timedelta(hours=1))
"""Of the wish for each vertex by itself."""


def weighed_wish(seconds: float) -> tuple[JobSample, Decision]:
    """Let three of eight subtasks go, of a job whose rescale takes so long."""
    running = sample(chain({"source": 4, "agg": 4}), settings=FIXED)
    takes = timedelta(seconds=seconds)
    known = replace(
        evaluated(running.topology, {}), downtime=Downtime(expected=takes, low=takes, high=takes, basis="seen")
    )
    return running, replace(decision_for(running, {"source": 2, "agg": 3}, {}, at(0)), evaluated=known)


def test_what_had_no_price_has_none_for_the_whole_job() -> None:
    """A reactive job gives up slots that are no longer its own, whatever that costs."""
    running, wish = weighed_wish(3_600)
    decision = BY_REDEPLOY.planned(PATIENT, running, JobState(), wish)
    assert (decision.outcome, decision.price) == (Outcome.RESCALE, None)


@pytest.mark.parametrize(("seconds", "outcome"), [(1_000, Outcome.KEEP), (800, Outcome.RESCALE)])
def test_the_whole_job_has_its_own_price(seconds: float, outcome: Outcome) -> None:
    """Two subtasks go, not three: they save 7,200 subtask-seconds in an hour, and 8 stand still for the downtime."""
    running, wish = weighed_wish(seconds)
    decision = BY_REDEPLOY.planned(PATIENT, running, JobState(), replace(wish, price=PRICED))

    assert decision.outcome is outcome
    assert (decision.reason is Reason.NOT_WORTH_RESTART) == (outcome is Outcome.KEEP)
    assert decision.price is not None
    assert decision.price.saved_s == 7_200


async def test_a_successor_is_not_somebody_elses_job() -> None:
    """Its id is known beforehand; any other job under the name ends the intent."""
    world = Scenario(engine=ReplacingEngine())
    world.engine.add(context(), orders())
    held = await begun(world)
    assert held.intent
    ours = orders(job_id=successor_of("j1"), agg=2)
    ours = replace(ours, topology=ours.topology.with_parallelism(held.intent.after))
    settled = settle_redeploy(context(), held, at(20), sample=ours).state
    assert (settled.intent, settled.job_wide) == (None, 5)
    assert settled.outbox[-1].reason is EventReason.RESCALE_REACHED
    held = replace(held, job_wide=4)
    other = settle_redeploy(context(), held, at(20), sample=orders(job_id="j9")).state
    assert other.job_wide is None  # somebody else's job was started with something else
    assert (other.intent, other.outbox[-1].reason) == (None, EventReason.INTENT_RECOVERED)


async def test_a_redeploy_is_never_given_up_for_having_waited() -> None:
    """Between stop and start nothing runs: after a day it is still looked after, and has been told of once."""
    world = Scenario(engine=ReplacingEngine())
    world.engine.add(context(), orders())
    held = await begun(world)
    waiting = settle_redeploy(context(), held, at(86_400), sample=None)
    assert (waiting.in_flight, waiting.request) == (True, True)
    again = settle_redeploy(context(), waiting.state, at(86_500), sample=None)
    told = [event.key for event in again.state.outbox if event.reason is EventReason.RESCALE_NOT_REACHED]
    assert len(told) == 1


async def test_a_job_that_its_cluster_does_not_know_is_given_up_no_sooner_than_at_its_deadline() -> None:
    """A JobManager that fails over between stop and start knows no job for a while."""
    world = Scenario()
    world.engine.add(context(), orders())
    held = await begun(world)
    assert held.intent
    deadline_s = (held.intent.deadline - at(0)).total_seconds()
    world.engine.remove(ORDERS)

    await world.tick(deadline_s - 1)
    assert world.store.load(ORDERS).state.intent
    await world.tick(deadline_s)
    assert world.store.load(ORDERS).state.intent is None
    assert EventReason.RESCALE_NOT_REACHED in world.events.reasons


async def test_a_redeploy_that_nobody_looked_after_for_long_is_not_begun() -> None:
    """What it was decided for may be over; the realizer still finishes one that has stopped its job."""
    asked: list[JobContext] = []
    world = Scenario(engine=ReplacingEngine(seen=asked.append))
    world.engine.add(context(), orders())
    await begun(world)
    await world.tick(86_400)
    assert [ctx.options.scaling_enabled for ctx in asked] == [True, False]


async def test_a_redeploy_is_finished_by_what_began_it() -> None:
    """Nobody can ask a stopped job for its own options, which may have chosen the realizer."""
    asked: list[JobContext] = []
    world = Scenario(engine=ReplacingEngine(seen=asked.append))
    world.engine.add(context(), orders())
    chosen = context(options=AutoscalerOptions(realizer="mine"))
    held = await begun(world, chosen)
    world.engine.remove(ORDERS)
    decisions = await world.tick(10)
    assert decisions["orders"].reason is Reason.RESCALE_IN_FLIGHT
    assert [ctx.options.realizer for ctx in asked] == ["mine", "mine"]
    assert asked[-1].intent == world.store.load(ORDERS).state.intent
    assert held.intent


async def test_what_cannot_change_in_a_running_job_waits_and_is_told_once() -> None:
    """The parallelism changes at once, in place; the same wish again is no news."""
    world = Scenario(engine=RefusingEngine())
    world.engine.add(context(), orders(adaptive=True))
    state = await configured(world, {"agg": 3}, "7 s")
    assert dict(state.deferred.overrides) == {"execution.checkpointing.interval": "7 s"}
    assert state.intent
    assert len(world.engine.requests) == 1
    told = world.events.reasons.count(EventReason.CONFIGURATION_DEFERRED)
    assert told == 1


async def test_configuration_alone_is_no_rescale_where_it_has_to_wait() -> None:
    """Nothing is asked of the engine, and no intent is opened."""
    world = Scenario(engine=RefusingEngine())
    world.engine.add(context(), orders(adaptive=True))
    state = await configured(world, {}, "7 s")
    assert dict(state.deferred.overrides) == {"execution.checkpointing.interval": "7 s"}
    assert (state.intent, world.engine.requests) == (None, [])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (True, Reason.CONFIGURATION_CHANGED),
        (False, Reason.BALANCED),
        (UnreachableError("not now"), Reason.CYCLE_FAILED),
    ],
)
async def test_configuration_alone_that_the_engine_takes_waits_for_nothing(
    answer: bool | HeadgateError,  # noqa: FBT001 - a parameter of the test
    reason: Reason,
) -> None:
    """Such as a query of Spark that is started anew: the decision says what came of it, nothing is kept for later."""
    world = Scenario(engine=AnsweringEngine(answer=answer))
    world.engine.add(context(), orders(adaptive=True))
    running = orders(adaptive=True)
    decision = decision_for(running, {}, {"execution.checkpointing.interval": "7 s"}, at(0))
    held = world.store.load(ORDERS)
    done = await world.cycle().actuator.rescale(context(), running, held, decision, late=timedelta())
    assert done.reason is reason
    assert not world.store.load(ORDERS).state.deferred.overrides


@dataclass
class AnsweringEngine(FakeEngine):
    """An engine that is asked for another configuration."""

    answer: bool | HeadgateError = True

    async def realize_config_overrides(self, _ctx: JobContext, _changes: ConfigChanges, /) -> bool:
        """Answer as planted."""
        if isinstance(self.answer, HeadgateError):
            raise self.answer
        return self.answer


class RefusingEngine(FakeEngine):
    """An engine that changes parallelism in place, and nothing else."""

    async def realize_config_overrides(self, ctx: JobContext, _changes: ConfigChanges, /) -> bool:
        """Refuse."""
        message = f"{ctx.key} runs"
        raise RefusedError(message)


@dataclass
class ReplacingEngine(FakeEngine):
    """An engine on which a request has no effect yet."""

    seen: Callable[[JobContext], None] = lambda _: None

    async def realize_parallelism_overrides(self, ctx: JobContext, _overrides: Mapping[VertexId, int], /) -> bool:
        """Take it up."""
        self.seen(ctx)
        return True


async def begun(world: Scenario, ctx: JobContext | None = None) -> JobState:
    """Ask for five subtasks of agg by a redeploy; returns what is saved."""
    running = orders()
    actuator = replace(world.cycle().actuator, redeployment=BY_REDEPLOY)
    await actuator.rescale(
        ctx or context(), running, world.store.load(ORDERS), planned(running, {"agg": 5}), late=timedelta()
    )
    return world.store.load(ORDERS).state


async def configured(world: Scenario, wanted: dict[str, int], interval: str) -> JobState:
    """Ask for a parallelism and a checkpoint interval in place; returns what is saved."""
    running = orders(adaptive=True)
    decision = decision_for(running, wanted, {"execution.checkpointing.interval": interval}, at(0))
    await world.cycle().actuator.rescale(context(), running, world.store.load(ORDERS), decision, late=timedelta())
    return world.store.load(ORDERS).state
