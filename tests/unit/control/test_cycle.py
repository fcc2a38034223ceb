"""One cycle after another on one job: what is done, in which order, and what survives a failure."""

from __future__ import annotations

from dataclasses import replace

from headgate.control import reports
from headgate.errors import ConflictError, RefusedError, UnreachableError
from headgate.model.decision import Outcome
from headgate.model.events import EventReason, EventType
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings
from headgate.model.state import JobState, VersionedState
from headgate.options.service import Mode
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.scenario import Scenario

GONE = JobKey("prod", "gone")


async def test_a_job_outside_its_band_is_rescaled(world: Scenario) -> None:
    """What changes is asked for in one request and reported; the other vertices are not touched."""
    decision = (await world.tick(0))["orders"]

    assert decision.outcome is Outcome.RESCALE
    assert decision.acts
    assert world.engine.requests == [{"agg": 4}]
    assert world.events.reasons == [EventReason.JOB_APPEARED, EventReason.SCALING_REPORT, EventReason.SCALING]


async def test_events_of_a_job_that_is_gone_leave_all_the_same(world: Scenario) -> None:
    """Its receiver was away when the job went; of a job that nobody lists only the store still knows."""
    event = reports.job_presence(GONE, appeared=False, why="went", now=at(0))
    world.store.save(GONE, JobState(outbox=(event,)), 0)

    decisions = await world.tick(0)

    assert event in world.events.told
    assert world.store.load(GONE).state.outbox == ()
    assert set(decisions) == {"orders"}
    assert GONE not in world.store.in_flight()


async def test_in_advice_mode_nothing_is_asked_of_the_engine(world: Scenario) -> None:
    """The same decision is reported as advice and nothing is saved or changed."""
    world.mode = Mode.ADVISE

    decision = (await world.tick(0))["orders"]

    assert (decision.outcome, decision.reason, decision.acts) == (Outcome.RESCALE, Reason.ADVICE, False)
    assert world.engine.requests == []
    assert world.store.load(ORDERS).version == 0


async def test_a_job_that_may_only_be_advised_is_not_changed(world: Scenario) -> None:
    """`scaling.enabled: false` holds for one job while others are acted on."""
    quiet = context()
    world.engine.add(replace(quiet, options=replace(quiet.options, scaling_enabled=False)), world.engine.jobs[ORDERS])

    assert (await world.tick(0))["orders"].reason is Reason.ADVICE
    assert world.engine.requests == []


async def test_the_intent_is_saved_and_told_before_the_engine_is_asked(world: Scenario) -> None:
    """Whatever happens after the request, what was going to be done is on record."""
    world.engine.realize_faults = [UnreachableError("no answer")]

    await world.tick(0)

    intent = world.store.load(ORDERS).state.intent
    assert intent is not None
    assert intent.realized_at is None
    assert world.engine.diary.index("tell ScalingReport") < world.engine.diary.index("request prod/orders")


async def test_a_request_without_an_answer_is_repeated_in_the_next_cycle(world: Scenario) -> None:
    """It is the same intent, not a new decision; nothing is reported twice."""
    world.engine.realize_faults = [UnreachableError("no answer")]

    await world.tick(0)
    decision = (await world.tick(5))["orders"]

    assert decision.reason is Reason.RESCALE_IN_FLIGHT
    assert world.engine.requests == [{"agg": 4}]
    assert world.events.reasons.count(EventReason.SCALING_REPORT) == 1


async def test_an_intent_that_somebody_else_has_closed_is_not_asked_for_again(world: Scenario) -> None:
    """A process that knows of an open intent reads it anew in each cycle before it goes by it."""
    world.engine.realize_faults = [UnreachableError("no answer")]
    cycle = world.cycle()
    await world.observer.observe(at(0))
    await cycle.run(world.observer.latest, at(0))
    held = world.store.load(ORDERS)
    world.store.save(ORDERS, replace(held.state, intent=None), held.version)
    world.factors = {}

    (decision,) = await cycle.run(world.observer.latest, at(5))

    assert decision.reason is Reason.BALANCED
    assert world.engine.requests == []


async def test_advice_mode_withdraws_what_was_not_confirmed(world: Scenario) -> None:
    """Whoever switches Headgate to advice can be sure: an open intent of before is closed, not carried out."""
    world.engine.realize_faults = [UnreachableError("no answer")]
    await world.tick(0)
    world.mode = Mode.ADVISE

    await world.tick(5)

    assert world.engine.requests == []
    assert world.store.load(ORDERS).state.intent is None
    assert EventReason.INTENT_RECOVERED in world.events.reasons


async def test_advice_mode_follows_what_was_confirmed_to_its_end(world: Scenario) -> None:
    """The engine is at it whatever Headgate may do from now on: that it is reached is seen and told."""
    world.engine.obeys = False
    await world.tick(0)
    world.mode = Mode.ADVISE
    await world.tick(5)
    world.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 4}))
    world.factors = {}

    await world.tick(30)

    assert world.events.reasons[-1] is EventReason.RESCALE_REACHED
    assert world.store.load(ORDERS).state.history[0].reached_at == at(30)


async def test_an_engine_that_changed_without_answering_is_not_asked_again(world: Scenario) -> None:
    """The answer was lost, the change was made: it is recognised by the running parallelism."""
    world.engine.realize_faults = [UnreachableError("no answer")]
    await world.tick(0)
    world.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 4}))
    world.factors = {}

    decision = (await world.tick(5))["orders"]

    assert decision.reason is Reason.BALANCED
    assert world.engine.requests == []
    state = world.store.load(ORDERS).state
    assert state.intent is None
    assert len(state.history) == 1


async def test_nothing_new_is_decided_while_a_rescale_is_under_way(world: Scenario) -> None:
    """At most one rescale of a job is in flight, and an accepted request is not repeated before its deadline."""
    world.engine.obeys = False

    await world.tick(0)
    world.factors = {"agg": 8.0}
    decision = (await world.tick(5))["orders"]

    assert decision.reason is Reason.RESCALE_IN_FLIGHT
    assert len(world.engine.requests) == 1


async def test_a_target_that_is_never_reached_is_asked_for_once_more_and_then_given_up(world: Scenario) -> None:
    """Each step is said; the same target is then not tried again before it expires, another one is."""
    world.engine.obeys = False

    for seconds in (0, 1_000, 2_000):
        await world.tick(seconds)
    assert len(world.engine.requests) == 2
    assert world.events.reasons.count(EventReason.RESCALE_NOT_REACHED) == 2

    assert (await world.tick(2_010))["orders"].reason is Reason.PARALLELISM_REJECTED
    world.factors = {"agg": 8.0}
    assert (await world.tick(2_020))["orders"].outcome is Outcome.RESCALE
    assert len(world.engine.requests) == 3


async def test_overrides_that_take_no_effect_are_detected_and_said(world: Scenario) -> None:
    """
    An engine that accepts and does nothing is asked twice in 25 minutes, then left in peace until that expires.

    The reference reports the same rescale in every cycle, and counts it as one each time (FLINK-38770).
    """
    world.engine.obeys = False

    for seconds in range(0, 1_500, 60):
        await world.tick(seconds)

    assert world.engine.requests == [{"agg": 4}, {"agg": 4}]
    assert world.events.reasons.count(EventReason.SCALING_REPORT) == 1
    late, given_up = (event for event in world.events.told if event.reason is EventReason.RESCALE_NOT_REACHED)
    assert (late.type, given_up.type) == (EventType.WARNING, EventType.WARNING)
    assert "runs at agg 1 of 4; tried again until" in late.message
    assert "runs at agg 1 of 4; the same is not asked for again before" in given_up.message
    state = world.store.load(ORDERS).state
    assert [(record.after, record.reached_at) for record in state.history] == [({"agg": 4}, None)]


async def test_a_job_that_does_not_come_back_from_its_rescale_is_told_of(world: Scenario) -> None:
    """While it restarts nobody can see its parallelism, but the limit passes all the same: said twice, then silence."""
    await world.tick(0)
    world.engine.contexts[ORDERS] = context(status=JobStatus.RESTARTING)

    reasons = [(await world.tick(seconds))["orders"].reason for seconds in (10, 1_000, 2_000, 3_000)]

    assert set(reasons) == {Reason.JOB_NOT_RUNNING}
    late = [event for event in world.events.told if event.reason is EventReason.RESCALE_NOT_REACHED]
    assert len(late) == 2
    assert "RESTARTING" in late[0].message
    assert len(world.engine.requests) == 1


async def test_a_rejected_target_is_tried_again_after_it_expired(world: Scenario) -> None:
    """What did not work an hour ago may work now."""
    world.engine.realize_faults = [RefusedError("not the adaptive scheduler")]

    await world.tick(0)
    assert (await world.tick(60))["orders"].reason is Reason.PARALLELISM_REJECTED
    assert (await world.tick(2_000))["orders"].outcome is Outcome.RESCALE
    assert len(world.engine.requests) == 1


async def test_a_decision_is_dropped_when_the_graph_moved_under_it(world: Scenario) -> None:
    """The running graph is looked at once more right before acting."""
    await world.observer.observe(world.engine.jobs[ORDERS].at)
    world.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 2}))

    decisions = await world.cycle().run(world.observer.latest, world.engine.jobs[ORDERS].at)

    assert decisions[0].reason is Reason.TOPOLOGY_CHANGED
    assert "agg 2 of 1" in decisions[0].message
    assert world.engine.requests == []


async def test_a_job_that_is_gone_when_it_is_to_be_rescaled_is_no_event_of_the_cycle(world: Scenario) -> None:
    """The collector, which misses it too, is who tells; the outcome says why nothing was done."""
    await world.observer.observe(at(0))
    world.engine.remove(ORDERS)

    (decision,) = await world.cycle().run(world.observer.latest, at(0))

    assert (decision.outcome, decision.reason) == (Outcome.NOT_READY, Reason.JOB_NOT_RUNNING)
    assert world.events.reasons == [EventReason.JOB_APPEARED]
    assert world.engine.requests == []


async def test_a_change_by_hand_ends_the_open_intent(world: Scenario) -> None:
    """Somebody who sets another parallelism meanwhile is not overruled by an older decision."""
    world.engine.obeys = False
    await world.tick(0)
    world.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 8}))
    world.factors = {}

    await world.tick(900)

    assert world.store.load(ORDERS).state.intent is None
    assert EventReason.INTENT_RECOVERED in world.events.reasons
    assert len(world.engine.requests) == 1


async def test_an_intent_that_was_forgotten_for_days_is_not_carried_out(world: Scenario) -> None:
    """A Headgate that was away for long looks at the job anew instead of finishing what it had begun."""
    world.engine.realize_faults = [UnreachableError("no answer")]
    await world.tick(0)
    world.factors = {}

    decision = (await world.tick(200_000))["orders"]

    assert decision.reason is Reason.BALANCED
    assert world.engine.requests == []


async def test_a_scheduler_that_cannot_rescale_in_place_is_only_advised(world: Scenario) -> None:
    """No request that must be refused is sent, in every cycle anew; the advice says why."""
    settings = EngineSettings(checkpoint_interval_s=10.0, adaptive=False)
    world.engine.jobs[ORDERS] = sample(chain({"source": 1, "agg": 1}), settings=settings)

    decision = (await world.tick(0))["orders"]

    assert decision.reason is Reason.ADVICE
    assert "does not rescale in place" in decision.message
    assert world.engine.requests == []


async def test_a_refused_request_is_no_rescale(world: Scenario) -> None:
    """What is kept and explained is what came of it."""
    world.engine.realize_faults = [RefusedError("above the maximum")]

    decision = (await world.tick(0))["orders"]

    assert (decision.outcome, decision.reason) == (Outcome.KEEP, Reason.PARALLELISM_REJECTED)
    assert "above the maximum" in decision.message


async def test_a_resubmitted_job_closes_the_open_intent(world: Scenario) -> None:
    """A change decided for the earlier submission is not made to the later one."""
    world.engine.obeys = False
    await world.tick(0)
    world.engine.add(context(job_id="j2"), sample(chain({"source": 1, "agg": 1}), job_id="j2"))
    world.factors = {}

    await world.tick(5)

    assert world.store.load(ORDERS).state.intent is None
    assert EventReason.INTENT_RECOVERED in world.events.reasons
    assert len(world.engine.requests) == 1


async def test_one_jobs_failure_is_that_jobs_event(world: Scenario) -> None:
    """The other job of the same cycle is rescaled all the same."""
    ill = JobKey("prod", "ill")
    world.engine.add(context(ill), sample(chain({"source": 1, "agg": 1}), job=ill))
    await world.observer.observe(world.engine.jobs[ORDERS].at)
    world.engine.faults[ill] = ConflictError("somebody was faster")

    decisions = await world.cycle().run(world.observer.latest, world.engine.jobs[ORDERS].at)

    assert [(d.job.name, d.reason) for d in decisions] == [
        ("ill", Reason.CYCLE_FAILED),
        ("orders", Reason.RESCALED),
    ]
    errors = [event for event in world.events.told if event.reason is EventReason.AUTOSCALER_ERROR]
    assert [event.subject for event in errors] == [ill]


async def test_a_failed_evaluation_changes_nothing_and_says_so_once(world: Scenario) -> None:
    """Spark or the log may be away for a while; every job gets its outcome nevertheless."""
    world.evaluator.fault = UnreachableError("the Spark cluster is away")

    decision = (await world.tick(0))["orders"]

    assert decision.outcome is Outcome.NOT_READY
    assert "the Spark cluster is away" in decision.message
    assert world.engine.requests == []


async def test_a_disabled_job_is_left_alone(world: Scenario) -> None:
    """It keeps its outcome row, which says why."""
    ctx = context()
    world.engine.add(replace(ctx, options=replace(ctx.options, enabled=False)), world.engine.jobs[ORDERS])

    assert (await world.tick(0))["orders"].reason is Reason.DISABLED


async def test_events_that_could_not_be_delivered_leave_later(world: Scenario) -> None:
    """They are saved with the state they tell of and leave in a later cycle, in order."""
    await world.observer.observe(world.engine.jobs[ORDERS].at)
    world.events.fault = UnreachableError("the receiver is down")
    await world.cycle().run(world.observer.latest, world.engine.jobs[ORDERS].at)
    assert len(world.engine.requests) == 1

    world.events.fault = None
    world.factors = {}
    await world.tick(5)

    assert EventReason.SCALING_REPORT in world.events.reasons
    assert world.store.load(ORDERS).state.outbox == ()


async def test_every_job_leaves_an_outcome(world: Scenario) -> None:
    """A decision row is kept for each job in each cycle, whatever was decided."""
    await world.tick(0)
    await world.tick(5)

    assert [decision.job for decision in world.log.decisions] == [ORDERS, ORDERS]


async def test_a_state_that_cannot_be_had_is_that_jobs_event(world: Scenario) -> None:
    """A job is not evaluated without its past, and nothing is asked of its engine; the other job goes on."""
    ill = JobKey("prod", "ill")
    world.engine.add(context(ill), sample(chain({"source": 1, "agg": 1}), job=ill))
    world.store = _StoreWithout(ill)

    decisions = await world.tick(0)

    assert (decisions["ill"].reason, decisions["orders"].reason) == (Reason.CYCLE_FAILED, Reason.RESCALED)
    errors = [event for event in world.events.told if event.reason is EventReason.AUTOSCALER_ERROR]
    assert [event.subject for event in errors] == [ill]
    assert world.engine.requests == [{"agg": 4}]


class _StoreWithout(MemoryStateStore):
    """Cannot give the state of one job."""

    def __init__(self, job: JobKey) -> None:
        """Fail for `job`."""
        super().__init__()
        self._job = job

    def load(self, job: JobKey, /) -> VersionedState:
        """Load, or fail."""
        if job == self._job:
            message = "the database is away"
            raise UnreachableError(message)
        return super().load(job)
