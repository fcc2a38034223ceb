"""A redeploy gets its workers first, and a job is never stopped for slots that are not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from headgate.algorithm.alignment import AlignmentMode
from headgate.algorithm.reactive.slots import slots_of
from headgate.control.deciding import PlainDecider
from headgate.control.reactive.awaiting import await_workers
from headgate.control.reactive.deciding import ReactiveDecider
from headgate.control.reactive.ledger import Ledger
from headgate.control.reactive.sharing import is_reactive
from headgate.control.reactive.steering import SteeredCluster, Steering
from headgate.control.redeployment import Redeployment
from headgate.errors import RefusedError
from headgate.model.decision import Decision
from headgate.model.events import EventReason
from headgate.model.identity import JobKey, VertexId
from headgate.model.reasons import Reason
from headgate.model.redeploy import Launch
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import ExecutionMode, WorkersOptions
from headgate.options.rollback import RollbackOptions
from headgate.options.service import Mode
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.fakes import FakeEngine
from headgate.testing.reacting import FakeProvider
from headgate.testing.redeploying import decision_for
from headgate.testing.scenario import Scenario

OTHER = JobKey(ORDERS.cluster, "other")
WORKERS = WorkersOptions(provider="fake", least=1, most=4, scale_down_interval=timedelta(seconds=60))
OPTIONS = AutoscalerOptions(
    alignment_mode=AlignmentMode.OFF,
    scale_down_interval=timedelta(),
    scale_down_max_factor=1.0,
    rollback=RollbackOptions(enabled=False),
)
REACTIVE = replace(OPTIONS, execution_mode=ExecutionMode.REACTIVE)
BY_REDEPLOY = Redeployment(
    applies=lambda ctx: not is_reactive(ctx.options), launch_of=lambda _: Launch(jar="job.jar", parallelism=2)
)


@dataclass
class Cluster(FakeEngine):
    """Workers of two slots each, on which a request replaces the job by its successor."""

    provider: FakeProvider = field(default_factory=lambda: FakeProvider(wanted=1))
    is_slow: bool = False
    """Whether workers that are asked for do not come."""
    slots: int = 2
    size_known: bool = True
    """Whether all workers have the same slots."""
    counts: bool = True
    """Whether the slots are told."""

    def run(self, job: JobKey, parallelism: Mapping[str, int], options: AutoscalerOptions = OPTIONS) -> None:
        """Let a job run."""
        graph = chain(dict(parallelism), max_parallelism=128)
        self.add(context(job, job_id=job.name, options=options), sample(graph, job=job, job_id=job.name))

    def parallelism(self, job: JobKey = ORDERS) -> int:
        """Give what the whole job runs at."""
        return max(self.jobs[job].topology.parallelism.values())

    async def update_metrics(self, ctx: JobContext, tick: datetime, /) -> JobSample:
        """Count the slots anew."""
        if not self.is_slow:
            self.slots = self.provider.wanted * 2
        used = sum(slots_of(one.topology) for one in self.jobs.values())
        settings = EngineSettings(
            adaptive=False, slots_per_task_manager=2, slots_per_task_manager_known=self.size_known
        )
        found = await super().update_metrics(ctx, tick)
        total, free = (self.slots, self.slots - used) if self.counts else (None, None)
        return replace(found, at=tick, settings=settings, slots_total=total, slots_free=free)

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Start the successor, once: the same request again finds it."""
        assert ctx.intent
        assert ctx.intent.redeploy
        successor = ctx.intent.redeploy.successor
        if self.jobs[ctx.key].job_id == successor:
            return False
        await super().realize_parallelism_overrides(ctx, overrides)
        self.jobs[ctx.key] = replace(self.jobs[ctx.key], job_id=successor)
        self.contexts[ctx.key] = replace(self.contexts[ctx.key], job_id=successor)
        return True


class Stage:
    """A job whose rescales replace it, on a cluster whose workers Headgate steers."""

    def __init__(self, workers: WorkersOptions = WORKERS, *, mode: Mode = Mode.ACT) -> None:
        """Let one job run in both slots of the one worker."""
        self.is_ours = True
        self.cluster = Cluster()
        self.cluster.run(ORDERS, {"source": 2, "agg": 2})
        self.world = Scenario(engine=self.cluster, redeployment=BY_REDEPLOY, mode=mode)
        events, provider = self.world.events, self.cluster.provider
        steered = SteeredCluster(name=ORDERS.cluster, provider=provider, options=workers)
        steering = Steering(events=events, clusters=(steered,), mode=mode, looks_after=lambda _: self.is_ours)
        self.world.steering = steering
        self.world.decider = ReactiveDecider(usual=PlainDecider(), events=events, ledger=steering.ledger)

    async def tick(self, seconds: float, factor: float = 1.0, *, job: JobKey = ORDERS) -> Decision:
        """Let every vertex need so many times what it has, and decide."""
        self.world.factors = {"agg": factor, "source": factor}
        decisions = await self.world.tick(seconds)
        return decisions[job.name]


async def test_a_redeploy_gets_its_workers_first() -> None:
    """The job runs on until they are there; then it is replaced once, by one that has all its slots."""
    stage = Stage()
    await stage.tick(0)
    waiting = await stage.tick(10, 3.0)
    assert (waiting.reason, stage.cluster.requests) == (Reason.WORKERS_AWAITED, [])
    assert stage.cluster.provider.requests[-1] == 3

    begun = await stage.tick(20, 3.0)
    assert begun.reason is Reason.RESCALED
    assert stage.cluster.parallelism() == 6
    await stage.tick(30)
    assert stage.world.events.reasons.count(EventReason.RESCALE_REACHED) == 1


async def test_workers_go_after_a_shrink_when_their_interval_is_over() -> None:
    """The job lets go of its slots at once; its workers stay for a while, for it may come back."""
    stage = Stage()
    for second, factor in ((0, 1.0), (10, 3.0), (20, 3.0), (30, 1.0)):
        await stage.tick(second, factor)
    await stage.tick(40, 1 / 3)
    seen = []
    for second in (50, 90, 110):
        await stage.tick(second)
        seen.append((stage.cluster.parallelism(), stage.cluster.provider.wanted))
    assert seen == [(2, 3), (2, 3), (2, 1)]


@pytest.mark.parametrize("fault", [RefusedError("no machine left"), None], ids=["refuses", "too slow"])
async def test_without_its_workers_a_redeploy_is_not_begun(fault: RefusedError | None) -> None:
    """Whether they are refused, or asked for and never there: for however long, the job runs on as it is."""
    stage = Stage()
    await stage.tick(0)
    stage.cluster.provider.fault, stage.cluster.is_slow = fault, True
    reasons = [(await stage.tick(second, 3.0)).reason for second in range(10, 700, 30)]

    assert (stage.cluster.requests, stage.cluster.parallelism()) == ([], 2)
    assert (reasons[0], reasons[-1]) == (Reason.WORKERS_AWAITED, Reason.NO_ROOM)


async def test_the_most_workers_bound_what_the_job_is_replaced_by() -> None:
    """Five times two subtasks are wanted, and four workers have eight slots."""
    stage = Stage()
    await stage.tick(0)
    for second in (10, 20):
        decision = await stage.tick(second, 5.0)
    assert stage.cluster.provider.requests[-1] == 4
    assert stage.cluster.parallelism() == 8
    assert {change.steps[-1].reason for change in decision.changes.values()} == {Reason.NO_ROOM}


async def test_with_all_workers_in_use_the_job_stays_as_it_is() -> None:
    """Nothing is stopped for a growth of which there can be nothing."""
    stage = Stage(replace(WORKERS, most=1))
    await stage.tick(0)
    assert (await stage.tick(10, 3.0)).reason is Reason.NO_ROOM
    assert stage.cluster.requests == []


async def test_nobody_counts_on_workers_before_the_provider_was_asked() -> None:
    """In the first cycle of a process a growth waits, instead of being made in two steps."""
    stage = Stage()
    stage.cluster.provider.wanted = 2
    assert (await stage.tick(0, 3.0)).reason is Reason.WORKERS_AWAITED
    assert (await stage.tick(10, 3.0)).reason is Reason.RESCALED
    assert stage.cluster.parallelism() == 6


async def test_where_nobody_knows_the_slots_of_a_worker_what_there_is_counts() -> None:
    """How many workers a growth takes cannot be told, so none is waited for; a job is stopped for free slots alone."""
    stage = Stage()
    stage.cluster.size_known, stage.cluster.provider.wanted = False, 2
    await stage.tick(0)
    assert (await stage.tick(10, 3.0)).reason is Reason.RESCALED
    assert stage.cluster.parallelism() == 4


async def test_a_job_is_not_stopped_while_the_slots_cannot_be_counted() -> None:
    """The cluster did not tell them: the job waits for them to be known."""
    stage = Stage()
    stage.cluster.counts = False
    await stage.tick(0)
    assert (await stage.tick(10, 2.0)).reason is Reason.WORKERS_AWAITED
    assert stage.cluster.requests == []


async def test_the_whole_job_counts_and_not_each_vertex_by_itself() -> None:
    """Two groups that share no slots: one vertex needs four subtasks, so both get them, and eight slots."""
    stage = Stage()
    running = stage.cluster.jobs[ORDERS]
    apart = tuple(replace(vertex, slot_sharing_group=vertex.name) for vertex in running.topology.vertices)
    stage.cluster.jobs[ORDERS] = replace(running, topology=replace(running.topology, vertices=apart))
    stage.cluster.provider.wanted = 2
    await stage.tick(0)
    stage.world.factors = {"agg": 2.0}
    await stage.world.tick(10)
    assert stage.cluster.requests == []
    assert stage.cluster.provider.requests[-1] == 4

    await stage.world.tick(20)
    assert stage.cluster.jobs[ORDERS].topology.parallelism == {VertexId("source"): 4, VertexId("agg"): 4}


async def test_workers_that_are_about_to_go_are_not_counted_on() -> None:
    """A job that grows while some are told to go waits until they have gone, or are wanted again."""
    stage = Stage()
    stage.cluster.provider.wanted, stage.cluster.is_slow, stage.cluster.slots = 3, True, 6
    for second in (0, 30, 60, 90):
        await stage.tick(second)
    assert stage.cluster.provider.wanted == 1  # and their slots are still counted
    assert (await stage.tick(100, 3.0)).reason is Reason.WORKERS_AWAITED
    assert stage.cluster.requests == []


async def test_two_jobs_are_not_promised_the_same_slots() -> None:
    """Both would be stopped, and only one could start."""
    stage = Stage()
    stage.cluster.provider.wanted = 3
    stage.cluster.run(OTHER, {"source": 2, "agg": 2})
    await stage.tick(0)
    first, second = await stage.tick(10, 2.0), stage.world.log.decisions[-1]
    assert {first.reason, second.reason} == {Reason.RESCALED, Reason.WORKERS_AWAITED}
    assert stage.cluster.provider.requests[-1] == 4

    await stage.tick(20, 1.0)
    assert (await stage.tick(30, 2.0, job=OTHER)).reason is Reason.RESCALED


def test_the_slots_of_a_job_between_stop_and_start_are_not_free() -> None:
    """Nothing runs there at the moment; whoever took them now would keep the other job from starting."""
    running = replace(
        sample(chain({"source": 2, "agg": 2}, max_parallelism=128)),
        settings=EngineSettings(adaptive=False),
        slots_total=12,
        slots_free=10,
    )
    wish = decision_for(running, {"source": 10, "agg": 10}, {}, at(0))
    ledger = Ledger(steered={ORDERS.cluster}, rooms={ORDERS.cluster: 12}, reserved={OTHER: 6}, promised={OTHER: 2})

    stopped = await_workers(ledger, running, wish, replaces=True)
    ledger.used = {OTHER: 4}
    still_running = await_workers(ledger, replace(running, slots_free=6), wish, replaces=True)

    assert set(stopped.targets.values()) == {2 + 10 - 6}
    assert set(still_running.targets.values()) == {2 + 6 - 2}


def _offered(stage: Stage, *, without: JobKey | None = None) -> int:
    """Give what the reactive neighbour is offered at once, while a job is not listed."""
    assert stage.world.steering
    latest = stage.world.observer.latest
    stage.world.steering.begin({job: seen for job, seen in latest.items() if job != without}, at(25))
    return stage.world.steering.ledger.standings[OTHER].offers.latest


async def test_a_neighbour_that_follows_the_slots_is_not_offered_those_of_a_redeploy() -> None:
    """Neither while its workers come, nor between stop and start, when nothing of it runs."""
    stage = Stage()
    stage.cluster.provider.wanted = 2
    stage.cluster.run(OTHER, {"reader": 1}, REACTIVE)
    await stage.tick(0)
    assert _offered(stage) == 2

    for second, reason in ((10, Reason.WORKERS_AWAITED), (20, Reason.RESCALED)):
        assert (await stage.tick(second, 3.0)).reason is reason
        await stage.world.observer.observe(at(second))
        assert stage.cluster.slots == 8
        assert (_offered(stage), _offered(stage, without=ORDERS)) == (2, 2)

    await stage.tick(30)
    await stage.tick(40, 1 / 3)
    await stage.tick(50)
    assert _offered(stage) == 6


async def test_a_neighbour_keeps_what_it_runs_in_while_a_redeploy_waits() -> None:
    """The workers may never come."""
    stage = Stage()
    stage.cluster.provider.wanted = 2
    stage.cluster.run(OTHER, {"reader": 2}, REACTIVE)
    await stage.tick(0)
    stage.cluster.is_slow = True
    assert (await stage.tick(10, 3.0)).reason is Reason.WORKERS_AWAITED
    assert _offered(stage) == 2


async def _needs(stage: Stage, seconds: float, **factors: float) -> Mapping[str, Reason]:
    """Let single vertices need so many times what they have, and tell what comes of it."""
    stage.world.factors = factors
    return {job: decision.reason for job, decision in (await stage.world.tick(seconds)).items()}


@pytest.mark.parametrize(
    "options", [replace(OPTIONS, scaling_enabled=False), replace(OPTIONS, enabled=False), REACTIVE]
)
async def test_what_was_promised_to_a_job_that_is_left_alone_is_free(options: AutoscalerOptions) -> None:
    """It has them by now, and nothing more is decided for it: they are not free and promised at once."""
    stage = Stage()
    stage.cluster.provider.wanted = 4
    stage.cluster.run(OTHER, {"reader": 2})
    await _needs(stage, 0)
    assert (await _needs(stage, 10, agg=2.0))[ORDERS.name] is Reason.RESCALED
    stage.cluster.contexts[ORDERS] = replace(stage.cluster.contexts[ORDERS], options=options)
    await _needs(stage, 20)

    assert (await _needs(stage, 30, reader=2.0))[OTHER.name] is Reason.RESCALED


async def test_what_was_promised_for_what_the_engine_refuses_is_free() -> None:
    """The same is wanted again and again, and not done."""
    stage = Stage()
    stage.cluster.provider.wanted = 3
    stage.cluster.run(OTHER, {"reader": 2})
    await _needs(stage, 0)
    stage.cluster.is_slow = True
    stage.cluster.realize_faults.append(RefusedError("not so"))
    assert (await _needs(stage, 10, agg=2.0))[ORDERS.name] is Reason.PARALLELISM_REJECTED
    await _needs(stage, 20, agg=2.0)

    again = await _needs(stage, 30, agg=2.0, reader=2.0)
    assert again == {ORDERS.name: Reason.PARALLELISM_REJECTED, OTHER.name: Reason.RESCALED}


async def test_who_takes_the_workers_over_waits_for_them() -> None:
    """In its first cycle too: what was another process's is not taken for workers that never come."""
    stage = Stage()
    stage.is_ours = False
    for second in (0, 10):
        await stage.tick(second)
    stage.is_ours = True

    assert (await stage.tick(20, 3.0)).reason is Reason.WORKERS_AWAITED
    assert (await stage.tick(30, 3.0)).reason is Reason.RESCALED
    assert stage.cluster.parallelism() == 6


async def test_advice_asks_for_nothing_and_stops_nothing() -> None:
    """What would be done is told, of the job and of its workers."""
    stage = Stage(mode=Mode.ADVISE)
    for second in (0, 10):
        advice = await stage.tick(second, 3.0)
    assert advice.reason is Reason.ADVICE
    assert (stage.cluster.requests, stage.cluster.provider.requests) == ([], [])
    assert any("3 workers instead of 1" in event.message for event in stage.world.events.told)
