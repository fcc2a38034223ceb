"""Two Headgates over one engine and one store: every job is decided on by one of them, and changed once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from headgate.control.actuation import Actuator
from headgate.control.cycle import Cycle
from headgate.control.leases import Leases
from headgate.control.outbox import Outbox
from headgate.control.runner import Runner
from headgate.model.decision import ConfigChanges
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.model.state import VersionedState
from headgate.options.service import Mode
from headgate.ports import JobContext, Lease
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import at, chain, context, sample
from headgate.testing.fakes import FakeEngine
from headgate.testing.redeploying import decision_for
from headgate.testing.scenario import Scenario

DURATION = timedelta(hours=1)
JOBS = [JobKey("prod", f"job {number}") for number in range(8)]


class LosingStore(MemoryStateStore):
    """Lets somebody else take each lease that is asked for before an effect: the process was frozen right then."""

    losing = False

    def holds(self, lease: Lease, /, *, now: datetime | None = None) -> bool:
        """Let the others take it, and then tell."""
        if self.losing:
            later = datetime.now(UTC) + DURATION
            self.acquire(lease.shard, "host/other/2", DURATION, now=later)
        return super().holds(lease, now=now)


@dataclass
class ConfigurableEngine(FakeEngine):
    """An engine that takes configuration."""

    configured: list[ConfigChanges] = field(default_factory=list)

    async def realize_config_overrides(self, _ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Take it."""
        self.configured.append(changes)
        return True


@pytest.fixture
def world() -> Scenario:
    """Eight jobs, each in need of more."""
    world = Scenario(factors={"agg": 4.0}, store=LosingStore())
    for job in JOBS:
        world.engine.add(context(job), sample(chain({"source": 1, "agg": 1}), job=job))
    return world


def headgate(world: Scenario, leases: Leases) -> Cycle:
    """Start one more process."""
    outbox = Outbox(store=world.store, events=world.events, leases=leases)
    return Cycle(
        mode=Mode.ACT,
        evaluator=world.evaluator,
        actuator=Actuator(collector=world.engine, realizer=world.engine, outbox=outbox, events=world.events),
        outbox=outbox,
        events=world.events,
        decisions=world.log,
    )


def leases_of(world: Scenario, name: str) -> Leases:
    """Give a process its leases, of two shards."""
    return Leases(world.store, shards=2, duration=DURATION, holder=f"host/{name}/2")


async def about_to_lose(world: Scenario) -> tuple[Cycle, VersionedState]:
    """Open the first job in a process that is frozen right before its next effect."""
    anna = leases_of(world, "anna")
    anna.renew()
    cycle = headgate(world, anna)
    held = await cycle.outbox.open(JOBS[0])
    assert isinstance(world.store, LosingStore)
    world.store.losing = True
    return cycle, held


async def test_every_job_is_changed_by_one_of_two(world: Scenario) -> None:
    """Both see all jobs at the same instant; each decides for its own."""
    anna, bert = leases_of(world, "anna"), leases_of(world, "bert")
    for leases in (anna, bert):
        leases.renew()
        anna.share_out()
    bert.renew()
    await world.observer.observe(at(0))

    decided = [
        {decision.job for decision in await headgate(world, leases).run(world.observer.latest, at(0))}
        for leases in (anna, bert)
    ]

    assert all(decided)
    assert decided[0].isdisjoint(decided[1])
    assert decided[0] | decided[1] == set(JOBS)
    assert world.engine.requests == [{"agg": 4}] * len(JOBS)


async def test_a_process_that_lost_its_lease_before_the_effect_asks_for_nothing(world: Scenario) -> None:
    """The intents stay open in the store, for its successor to carry out."""
    anna = leases_of(world, "anna")
    anna.renew()
    await world.observer.observe(at(0))
    assert isinstance(world.store, LosingStore)
    world.store.losing = True

    await headgate(world, anna).run(world.observer.latest, at(0))

    assert world.engine.requests == []
    assert len(world.store.in_flight()) == len(JOBS)


async def test_a_process_that_lost_its_lease_before_it_changes_a_configuration_leaves_it() -> None:
    """Nothing is saved of a change of configuration alone, so no fence of the store would stop it."""
    engine = ConfigurableEngine()
    world = Scenario(engine=engine, store=LosingStore())
    running = sample(chain({"source": 1}), job=JOBS[0])
    engine.add(context(JOBS[0]), running)
    cycle, held = await about_to_lose(world)
    decision = decision_for(running, {}, {"execution.checkpointing.interval": "7 s"}, at(0))

    made = await cycle.actuator.rescale(context(JOBS[0]), running, held, decision, late=timedelta())

    assert made.reason is Reason.CYCLE_FAILED
    assert engine.configured == []


async def test_a_process_that_lost_its_lease_does_not_hold_a_job_to_what_it_runs_at(world: Scenario) -> None:
    """Its successor may just have asked for more; whether to hold it is asked again in the next cycle."""
    cycle, _ = await about_to_lose(world)

    done = await cycle.actuator.hold(context(JOBS[0]), world.engine.jobs[JOBS[0]], at(0))

    assert not done
    assert world.engine.requests == []


async def test_who_has_its_share_of_the_jobs_is_told_once(world: Scenario) -> None:
    """Also where somebody forgot that another process uses the store: half of the jobs is not decided on here."""
    leases_of(world, "bert").renew()
    anna = leases_of(world, "anna")
    runner = Runner(
        observers=(world.observer,),
        cycle=headgate(world, anna),
        events=world.events,
        leases=anna,
        collect_interval=DURATION,
        decide_interval=DURATION,
    )
    for second in (0, 30):
        await runner.decide(at(second))
    told = [event.message for event in world.events.told if event.reason is EventReason.JOBS_DIVIDED]
    assert told == ["the jobs are divided with host/bert/2: same state store, same clusters"]
