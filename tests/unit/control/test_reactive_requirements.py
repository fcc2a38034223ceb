"""What the engine is asked for reactive jobs that stay as they run: no job's least is within another one's reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from headgate.control.deciding import PlainDecider
from headgate.control.reactive.deciding import ReactiveDecider
from headgate.control.reactive.steering import Steering
from headgate.errors import HeadgateError, RefusedError, UnreachableError
from headgate.model.decision import Decision
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import Mode
from headgate.ports import JobContext
from headgate.testing.builders import chain, context, sample
from headgate.testing.fakes import FakeEngine
from headgate.testing.reacting import reactive
from headgate.testing.scenario import Scenario

HEAVY, LIGHT = JobKey("prod", "heavy"), JobKey("prod", "light")


@dataclass
class Requirements(FakeEngine):
    """An engine that knows what each job is asked to have, and is told nothing twice, as Flink's realizer does."""

    bounds: dict[JobKey, Mapping[VertexId, int]] = field(default_factory=dict)

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Send what differs."""
        if self.bounds.get(ctx.key) == overrides:
            self.diary.append(f"nothing new for {ctx.key}")
            return False
        sent = await super().realize_parallelism_overrides(ctx, overrides)
        self.bounds[ctx.key] = dict(overrides)
        return sent

    @property
    def told(self) -> list[str]:
        """Every look at the requirements of a job, and every change of them."""
        return [line for line in self.diary if line.startswith(("request", "nothing new"))]


@dataclass
class Cluster(Scenario):
    """A session cluster, a slot a worker; the jobs run as the engine lets them, whatever was asked for."""

    engine: Requirements = field(default_factory=Requirements)

    def __post_init__(self) -> None:
        """Begin with a process that remembers nothing."""
        super().__post_init__()
        self.restart_headgate()

    def restart_headgate(self) -> None:
        """Forget what was held in memory."""
        self.steering = Steering(events=self.events)
        self.decider = ReactiveDecider(usual=PlainDecider(), events=self.events, ledger=self.steering.ledger)

    def runs(self, slots: int, options: Mapping[JobKey, AutoscalerOptions] | None = None, **jobs: int) -> None:
        """Let the cluster have so many slots, and each job run on so many of them."""
        for name, parallelism in jobs.items():
            key = JobKey("prod", name)
            known = self.engine.contexts.get(key)
            made = (options or {}).get(key, known.options if known else reactive())
            taken = sample(chain({"agg": parallelism}), job=key, job_id=name)
            free = slots - sum(jobs.values())
            self.engine.add(
                context(key, job_id=name, options=made), replace(taken, slots_total=slots, slots_free=max(0, free))
            )

    def asked(self, job: JobKey) -> int | None:
        """Give what the job was last asked to have."""
        return self.engine.bounds.get(job, {}).get(VertexId("agg"))


async def shrunk(cluster: Cluster) -> Mapping[str, Decision]:
    """Lose a worker of four for good: Flink runs the heavy job on two slots by itself, and not on three any more."""
    options = {HEAVY: reactive(weight=3.0), LIGHT: reactive()}
    cluster.engine.bounds = {HEAVY: {VertexId("agg"): 3}, LIGHT: {VertexId("agg"): 1}}
    cluster.runs(4, options, heavy=3, light=1)
    for second in (0, 10):
        await cluster.tick(second)
    cluster.runs(3, heavy=2, light=1)
    await cluster.tick(20)
    return await cluster.tick(30)


async def test_a_job_that_the_engine_has_shrunk_may_not_have_more_at_the_next_restart() -> None:
    """Its own share is two by now, and the third slot is all that the other one has."""
    cluster = Cluster()
    decisions = await shrunk(cluster)

    assert decisions["heavy"].reason is Reason.BALANCED
    assert (cluster.asked(HEAVY), cluster.asked(LIGHT)) == (2, 1)
    assert cluster.engine.requests == [{"agg": 2}]
    assert cluster.events.reasons.count(EventReason.SHARE_HELD) == 1
    assert "agg 2" in cluster.events.told[-1].message


async def test_nothing_is_asked_for_while_a_lost_worker_may_come_back() -> None:
    """The engine brings the job back to what it was asked for, if it does."""
    cluster = Cluster()
    cluster.runs(4, {HEAVY: reactive(weight=3.0)}, heavy=3, light=1)
    for second in (0, 10):
        await cluster.tick(second)
    cluster.runs(3, heavy=2, light=1)
    await cluster.tick(15)
    assert cluster.asked(HEAVY) == 3


async def test_it_is_asked_for_once_for_each_share() -> None:
    """Further cycles do not even look; a process that begins anew looks once, and finds it done."""
    cluster = Cluster()
    await shrunk(cluster)
    before = list(cluster.engine.told)
    for second in (40, 50):
        await cluster.tick(second)
    assert cluster.engine.told == before

    cluster.restart_headgate()
    for second in (60, 70, 80):
        await cluster.tick(second)
    assert cluster.engine.told == [*before, "nothing new for prod/heavy", "nothing new for prod/light"]


async def test_what_was_lost_with_the_process_is_made_up_for() -> None:
    """Headgate was away when the worker was lost: once the slots have stayed, it asks for what runs."""
    cluster = Cluster()
    cluster.engine.bounds = {HEAVY: {VertexId("agg"): 3}}
    cluster.runs(3, {HEAVY: reactive(weight=3.0)}, heavy=2, light=1)
    for second in (0, 10):
        await cluster.tick(second)
    assert cluster.asked(HEAVY) == 2


async def test_slots_that_come_back_are_grown_into() -> None:
    """What was asked for meanwhile does not stand in the way."""
    cluster = Cluster()
    await shrunk(cluster)
    cluster.runs(4, heavy=2, light=1)
    for second in (40, 50):
        await cluster.tick(second)
    assert cluster.asked(HEAVY) == 3


async def test_a_job_that_lacks_its_least_is_held_to_what_it_has() -> None:
    """What it was asked to have before would be another one's least."""
    cluster = Cluster()
    options = {HEAVY: reactive(min_parallelism=2, weight=3.0), LIGHT: reactive(min_parallelism=2)}
    cluster.engine.bounds = {HEAVY: {VertexId("agg"): 2}, LIGHT: {VertexId("agg"): 2}}
    cluster.runs(4, options, heavy=2, light=2)
    for second in (0, 10):
        await cluster.tick(second)
    cluster.runs(3, heavy=2, light=1)
    for second in (20, 30):
        decisions = await cluster.tick(second)

    assert decisions["light"].reason is Reason.SLOTS_SHORT
    assert (cluster.asked(HEAVY), cluster.asked(LIGHT)) == (2, 1)


async def test_a_growth_that_is_not_worth_it_does_not_leave_more_to_be_had() -> None:
    """The engine runs it on less than its new share: it is held to that, until growing is worth a restart."""
    cluster = Cluster()
    options = {HEAVY: reactive(weight=3.0, min_parallelism_increase=2), LIGHT: reactive()}
    cluster.runs(4, options, heavy=3, light=1)
    for second in (0, 10):
        await cluster.tick(second)
    cluster.runs(3, heavy=1, light=1)
    for second in (20, 30, 40):
        decisions = await cluster.tick(second)

    assert decisions["heavy"].reason is Reason.INCREASE_TOO_SMALL
    assert cluster.asked(HEAVY) == 1


async def test_a_job_alone_on_its_cluster_keeps_what_it_was_asked_for() -> None:
    """Nobody else needs the slots, and the engine grows it back by itself when they return."""
    cluster = Cluster()
    cluster.runs(4, heavy=4)
    for second in (0, 10):
        await cluster.tick(second)
    cluster.runs(3, heavy=3)
    for second in (20, 30):
        await cluster.tick(second)
    assert cluster.engine.told == []


async def test_advice_asks_for_nothing() -> None:
    """And when Headgate may act it is made up for."""
    cluster = Cluster(mode=Mode.ADVISE)
    await shrunk(cluster)
    assert cluster.engine.told == []

    cluster.mode = Mode.ACT
    await cluster.tick(40)
    assert cluster.asked(HEAVY) == 2


@pytest.mark.parametrize(
    "closed",
    [
        {"scaling_enabled": False},
        {"excluded_periods": ("* * * * * ?",), "excluded_periods_time_zone": "UTC"},
        {"realizer": "mine"},
        {"enabled": False},
    ],
)
async def test_a_job_that_may_not_be_touched_is_not(closed: dict[str, object]) -> None:
    """By its options, or because somebody else's realizer changes it in a way of its own."""
    cluster = Cluster()
    cluster.engine.bounds = {HEAVY: {VertexId("agg"): 3}}
    options = {HEAVY: replace(reactive(weight=3.0), **closed)}  # type: ignore[arg-type]
    cluster.runs(3, options, heavy=2, light=1)
    for second in (0, 10, 20):
        await cluster.tick(second)
    assert cluster.asked(HEAVY) == 3


@pytest.mark.parametrize(
    ("setting", "value"), [("reactive", True), ("adaptive", False)], ids=["by the engine itself", "not in place"]
)
async def test_an_engine_that_takes_no_orders_is_given_none(setting: str, *, value: bool) -> None:
    """Flink's own reactive mode refuses them, and its other schedulers know none."""
    cluster = Cluster()
    cluster.runs(3, heavy=2, light=1)
    for key, running in cluster.engine.jobs.items():
        settings = replace(running.settings, **{setting: value})  # type: ignore[arg-type]
        cluster.engine.jobs[key] = replace(running, settings=settings)
    for second in (0, 10, 20):
        await cluster.tick(second)
    assert cluster.engine.told == []


@pytest.mark.parametrize(
    ("fault", "again"), [(UnreachableError("no answer"), 2), (RefusedError("no such job"), None)], ids=["away", "no"]
)
async def test_a_failure_is_an_event_and_changes_nothing_else(fault: HeadgateError, again: int | None) -> None:
    """The decision stands; without an answer it is asked for again, after a refusal not before the share changes."""
    cluster = Cluster()
    cluster.runs(3, {HEAVY: reactive(weight=3.0)}, heavy=2, light=1)
    cluster.engine.bounds = {LIGHT: {VertexId("agg"): 1}}
    cluster.engine.realize_faults = [fault]
    await cluster.tick(0)
    decision = (await cluster.tick(10))["heavy"]

    assert decision.reason is Reason.BALANCED
    assert cluster.events.reasons[-1] is EventReason.AUTOSCALER_ERROR
    await cluster.tick(20)
    assert cluster.asked(HEAVY) == again
