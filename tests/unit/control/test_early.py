"""What is decided between the usual ticks: for jobs that are changing, and for nobody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.control.streaming import CALM, FAST, GROWING, RETURNS, Load, StreamingEngine

from headgate.algorithm.readiness import pace, readiness
from headgate.algorithm.rules import HEADGATE
from headgate.control.early import EarlyTicks
from headgate.control.leases import Leases, shard_of
from headgate.control.outbox import Outbox
from headgate.control.recording import Recorder
from headgate.control.restarts import Restarts
from headgate.errors import UnreachableError
from headgate.model.decision import Decision
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.lag import Outage
from headgate.model.measures import JobMeasure
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.orders import Given, StandingOrders
from headgate.model.reasons import Reason
from headgate.options.autoscaler import Reaction
from headgate.options.service import Mode
from headgate.ports import Candidate, Circumstances
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import ORDERS, at, evaluated
from headgate.testing.fakes import FakeEvaluator, RecordingLog
from headgate.testing.scenario import Scenario


@dataclass
class Asked:
    """An evaluator that notes whom it was asked about."""

    behind: FakeEvaluator
    asked: list[JobKey] = field(default_factory=list)

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """Ask the one behind."""
        self.asked += [one.sample.job for one in candidates]
        return self.behind.evaluate(candidates, now)


@dataclass(slots=True)
class Kept:
    """A sink of circumstances that keeps them in memory."""

    kept: list[Circumstances] = field(default_factory=list)

    def append_circumstances(self, circumstances: Sequence[Circumstances], /) -> None:
        """Keep them."""
        self.kept.extend(circumstances)


@dataclass
class Stage:
    """Two jobs that need four times their capacity, one of them under a load that grows after a minute."""

    world: Scenario = field(init=False)
    engine: StreamingEngine = field(default_factory=StreamingEngine)
    sink: RecordingLog = field(default_factory=RecordingLog)
    """Where early decisions go."""

    def __post_init__(self) -> None:
        """Let the jobs run."""
        self.world = Scenario(engine=self.engine, factors={"agg": 4.0})
        self.evaluator = Asked(self.world.evaluator)
        self.engine.run(ORDERS)
        self.engine.run(RETURNS)
        self.engine.loads[ORDERS] = GROWING
        self.ticks = self.started()

    def started(self, **changes: object) -> EarlyTicks:
        """Put together what looks between the ticks; `changes` are those of the cycle."""
        cycle = replace(self.world.cycle(), early=self.evaluator, early_decisions=self.sink)
        cycle = replace(cycle, **changes)  # type: ignore[arg-type]
        return EarlyTicks(observers=(self.world.observer,), cycle=cycle)

    async def usually(self, *seconds: int) -> None:
        """Let these be the usual ticks."""
        for second in seconds:
            await self.world.observer.observe(at(second))
            await self.ticks.look(at(second))

    async def early(self, second: float) -> tuple[Decision, ...]:
        """Look, and decide, between two ticks."""
        await self.ticks.look(at(second))
        return await self.ticks.decide(at(second))


@pytest.fixture
async def stage() -> Stage:
    """Have seen a minute of both jobs, every two seconds."""
    stage = Stage()
    await stage.usually(*range(0, 61, 2))
    return stage


async def test_while_nothing_changes_nothing_is_done(stage: Stage) -> None:
    """No engine is asked, nobody is evaluated, nothing is kept."""
    asked = len(stage.engine.asked)

    assert not stage.ticks.alertness.changing
    assert await stage.early(61) == ()
    assert len(stage.engine.asked) == asked
    assert stage.evaluator.asked == []
    assert stage.sink.decisions == []


async def test_a_job_that_is_changing_is_looked_at_between_its_ticks(stage: Stage) -> None:
    """And only that one."""
    await stage.usually(62)
    assert stage.ticks.alertness.changing

    await stage.ticks.look(at(63))

    assert stage.engine.asked[-1] == (ORDERS, at(63))
    assert [job for job, second in stage.engine.asked if second > at(62)] == [ORDERS]
    assert (stage.world.log.samples[-1].job, stage.world.log.samples[-1].at) == (ORDERS, at(63))


async def test_a_sample_that_was_just_taken_is_not_taken_again(stage: Stage) -> None:
    """A turn that was half a second ago is as good as a look of its own."""
    await stage.usually(62)
    asked = len(stage.engine.asked)

    await stage.ticks.look(at(62.5))
    assert len(stage.engine.asked) == asked
    await stage.ticks.look(at(62.8))

    assert stage.engine.asked[asked:] == [(ORDERS, at(62.8))]


async def test_it_is_decided_for_as_soon_as_its_new_load_is_known(stage: Stage) -> None:
    """Three seconds after the step it is rescaled, by its own evaluator; what was decided goes to its own sink."""
    await stage.usually(62)

    (decision,) = await stage.early(63)

    assert (decision.job, decision.at, decision.acts) == (ORDERS, at(63), True)
    assert stage.engine.requests == [{VertexId("agg"): 4}]
    assert stage.sink.decisions == [decision]
    assert stage.world.log.decisions == []
    assert stage.evaluator.asked == [ORDERS]


async def test_who_was_decided_for_has_to_wait_for_news(stage: Stage) -> None:
    """Another second in which nothing more was learnt is none."""
    await stage.usually(62)
    assert await stage.early(63)

    assert await stage.early(63.5) == ()
    assert len(stage.sink.decisions) == 1


async def test_a_job_that_goes_by_its_window_has_its_usual_ticks(stage: Stage) -> None:
    """Whatever comes in."""
    stage.engine.run(RETURNS, replace(FAST, reaction=Reaction.WINDOWED))
    stage.engine.loads = {RETURNS: GROWING}

    await stage.usually(*range(62, 70, 2))

    assert not stage.ticks.alertness.changing
    assert await stage.early(71) == ()


async def test_a_cycle_after_it_goes_on_from_what_was_done(stage: Stage) -> None:
    """The state is one and the same: the change that is under way is not asked for again."""
    await stage.usually(62)
    (early,) = await stage.early(63)

    stage.engine.remove(RETURNS)
    stage.world.factors["agg"] = 1.0
    await stage.usually(64)
    (usual,) = await stage.ticks.cycle.run(stage.world.observer.latest, at(65))

    assert usual.job == early.job
    assert len(stage.engine.requests) == 1
    assert EventReason.RESCALE_REACHED in stage.world.events.reasons


async def test_a_job_that_is_gone_is_nobodys_concern(stage: Stage) -> None:
    """It was due, and vanished before it was decided for."""
    await stage.usually(62)
    await stage.ticks.look(at(63))
    stage.engine.remove(ORDERS)
    await stage.world.observer.observe(at(64))

    assert await stage.ticks.decide(at(64.5)) == ()


@pytest.mark.parametrize("apart", [True, False])
async def test_without_an_evaluator_and_a_sink_of_its_own_it_has_the_usual_ones(stage: Stage, *, apart: bool) -> None:
    """Where all is in memory one is as quick as the other."""
    usual = Asked(stage.world.evaluator)
    own = {} if apart else {"early": None, "early_decisions": None}
    cycle = stage.started(evaluator=usual, **own).cycle

    decisions = await cycle.run_early(stage.world.observer.latest, at(61))

    assert [decision.job for decision in decisions] == [ORDERS, RETURNS]
    assert bool(usual.asked) is not apart
    assert stage.world.log.decisions == ([] if apart else list(decisions))


async def test_what_it_depended_on_is_recorded(stage: Stage) -> None:
    """Or it could not be replayed."""
    sink = Kept()
    recorder = Recorder(
        sink=sink,
        events=stage.world.events,
        collect_interval=timedelta(seconds=2),
        restarts=Restarts(),
        mode=Mode.ACT,
    )
    latest = {ORDERS: stage.world.observer.latest[ORDERS]}

    await stage.started(recorder=recorder).cycle.run_early(latest, at(61))

    assert [(one.ctx.key, one.at, one.sampled_at) for one in sink.kept] == [(ORDERS, at(61), at(60))]


async def test_as_long_as_nobody_knows_what_people_ordered_nothing_is_decided() -> None:
    """Not even that nothing is: the next whole cycle says so for all jobs."""

    class Away(MemoryStateStore):
        def orders(self) -> StandingOrders:
            message = "away"
            raise UnreachableError(message)

    stage = Stage()
    stage.world.store = Away()
    stage.ticks = stage.started()
    await stage.usually(*range(0, 63, 2))

    assert await stage.early(63) == ()
    assert stage.sink.decisions == []
    assert stage.engine.requests == []


async def test_a_job_that_another_process_looks_after_is_left_to_it(stage: Stage) -> None:
    """Both see it change."""
    store, later = MemoryStateStore(), datetime.now(UTC)
    assert store.acquire(shard_of(ORDERS, 4), "host/bert/4", timedelta(hours=1), now=later)
    leases = Leases(store, shards=4, duration=timedelta(hours=1))
    leases.renew()
    cycle = stage.started().cycle
    outbox = Outbox(store=store, events=stage.world.events, leases=leases)
    shared = replace(cycle, outbox=outbox, actuator=replace(cycle.actuator, outbox=outbox))

    decisions = await shared.run_early(stage.world.observer.latest, at(61))

    assert ORDERS not in {decision.job for decision in decisions}


async def test_a_pause_holds_between_the_ticks_too(stage: Stage) -> None:
    """It is decided, and not done."""
    pause = Given(at=at(0), by="anna@host", why="latency is up")
    stage.world.store.change_orders(ORDERS, lambda orders: replace(orders, pause=pause))

    decisions = await stage.ticks.cycle.run_early(stage.world.observer.latest, at(61))

    assert [decision.reason for decision in decisions] == [Reason.PAUSED, Reason.RESCALED]
    assert len(stage.engine.requests) == 1


async def test_a_failure_is_an_event_and_a_decision(stage: Stage) -> None:
    """As in a whole cycle: evaluation, log and job fail one by one."""
    stage.world.evaluator.fault = UnreachableError("the disk is gone")
    stage.sink.fault = OSError("full")

    decisions = await stage.ticks.cycle.run_early(stage.world.observer.latest, at(61))

    assert {decision.reason for decision in decisions} == {Reason.CYCLE_FAILED}
    told = [event.message for event in stage.world.events.told if event.reason is EventReason.AUTOSCALER_ERROR]
    assert len(told) == 2


async def test_a_job_that_falls_behind_without_a_change_is_decided_for(stage: Stage) -> None:
    """It is not looked at more often, but not left until its turn either."""
    stage.engine.loads = {RETURNS: Load(lag=6 * CALM)}
    await stage.usually(62)

    assert not stage.ticks.alertness.changing
    assert [decision.job for decision in await stage.ticks.decide(at(62.5))] == [RETURNS]


async def test_a_job_that_is_cut_off_from_its_input_is_told_of_at_once(stage: Stage) -> None:
    """Its brokers died: the look that shows it is followed by the event, which waits for no turn to decide."""
    stage.evaluator.behind.answer = evaluated_unless_cut_off
    running = stage.engine.jobs[RETURNS]
    outage = {JobMeasure.OUTAGE: float(Outage.UNANSWERED)}
    stage.engine.jobs[RETURNS] = replace(running, values=outage)
    del stage.engine.loads[ORDERS]
    await stage.usually(62)

    (decision,) = await stage.ticks.decide(at(62.5))

    assert (decision.job, decision.reason) == (RETURNS, Reason.INPUT_CUT_OFF)
    (event,) = (each for each in stage.world.events.told if each.reason is EventReason.INPUT_CUT_OFF)
    assert (event.at, event.subject) == (at(62.5), RETURNS)


def evaluated_unless_cut_off(one: Candidate) -> EvaluatedMetrics | NotReady:
    """Evaluate a job that reads."""
    not_ready = readiness(
        one.sample, one.options, spans={}, pace=pace(timedelta(seconds=2), 0.0, HEADGATE), now=one.sample.at
    )
    is_cut_off = not_ready is not None and not_ready.reason is Reason.INPUT_CUT_OFF
    return not_ready if not_ready and is_cut_off else evaluated(one.sample.topology, {})
