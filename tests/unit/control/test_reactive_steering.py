"""Workers of clusters that others use as well: other processes, other people's TaskManagers, jobs that wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headgate.model.decision import Outcome
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import WorkersOptions
from headgate.options.service import Mode
from headgate.testing.builders import at, chain
from headgate.testing.reacting import NOT_RUNNING, FakeProvider, ReactiveStage, reactive

WORKERS = WorkersOptions(provider="fake", least=1, most=10, scale_down_interval=timedelta(seconds=60))
UNREACHABLE = replace(NOT_RUNNING, reason=Reason.JOB_UNREACHABLE)


def staged(wanted: int, **rest: object) -> ReactiveStage:
    """Give a cluster with so many workers of two slots, and no job yet."""
    return ReactiveStage(slots=2 * wanted, provider=FakeProvider(wanted=wanted), workers=WORKERS, **rest)  # type: ignore[arg-type]


def wanted(stage: ReactiveStage) -> int:
    """Give the workers that the provider was asked for last, by anybody."""
    assert stage.provider
    return stage.provider.wanted


async def ticks(stage: ReactiveStage, *seconds: float) -> None:
    """Let so many cycles pass."""
    for second in seconds:
        await stage.tick(second)


async def taken_over(stage: ReactiveStage, count: int) -> None:
    """Let the workers be changed by somebody else, and the job be out of sight afterwards."""
    assert stage.provider
    stage.provider.wanted, stage.slots = count, 2 * count
    stage.seen["orders"] = replace(stage.seen["orders"], problem=UNREACHABLE)


async def test_what_another_process_asked_for_is_not_taken_back() -> None:
    """A lease that comes back brings nothing of what was known before: the provider is asked anew."""
    stage = staged(2)
    stage.add("orders", reactive())
    await ticks(stage, 0, 10)
    stage.is_ours = False
    await ticks(stage, 20)
    await taken_over(stage, 5)
    stage.is_ours = True
    await ticks(stage, 30)

    assert wanted(stage) == 5


async def test_what_was_changed_by_hand_while_headgate_advised_is_not_taken_back() -> None:
    """The wait to shrink begins when it may act again."""
    stage = staged(2, unknown={"orders"})
    stage.add("orders", reactive())
    await ticks(stage, 0, 10)
    stage.mode = Mode.ADVISE
    await ticks(stage, 20)
    await taken_over(stage, 5)
    stage.mode = Mode.ACT
    await ticks(stage, 30)

    assert wanted(stage) == 5


async def test_workers_of_somebody_else_do_not_starve_the_jobs() -> None:
    """When ours have gone their slots are still there, and used."""
    stage = staged(3, foreign_slots=2)
    stage.slots = 8
    stage.add("orders", reactive())
    await ticks(stage, 0, 10, 20)
    assert stage.parallelism("orders")["agg"] == 8

    stage.factors = {"agg": 0.2, "source": 0.2}
    await ticks(stage, *range(30, 180, 10))
    assert (wanted(stage), stage.parallelism("orders")["agg"]) == (2, 6)

    assert stage.steering.ledger.caps == {}


async def test_somebody_elses_worker_that_comes_while_ours_go_is_used_after_a_while() -> None:
    """The slots that are left never become as few as was expected."""
    stage = staged(3)
    stage.add("orders", reactive())
    await ticks(stage, 0, 10)
    stage.factors = {"agg": 0.2, "source": 0.2}
    await ticks(stage, *range(20, 90, 10))
    stage.foreign_slots = 4
    await ticks(stage, *range(90, 600, 10))

    assert stage.steering.ledger.caps == {}


async def test_a_job_that_waits_counts_with_its_least() -> None:
    """One takes all slots there are; for the other workers are asked for, though its load tells nothing."""
    stage = staged(1)
    stage.add("orders", reactive(min_parallelism=2))
    stage.add_waiting("reports", reactive(min_parallelism=4))
    await ticks(stage, 0)
    assert wanted(stage) == 3


async def test_any_job_that_waits_gets_a_worker() -> None:
    """Also one that does not follow the slots."""
    stage = staged(1)
    stage.add("orders", AutoscalerOptions(), chain({"source": 2}))
    stage.add_waiting("plain", AutoscalerOptions())
    await ticks(stage, 0)
    assert wanted(stage) == 2


async def test_a_job_that_goes_on_waiting_gets_one_worker_after_another() -> None:
    """How many slots it waits for nobody knows: one a minute, as a worker must start and be counted, up to the most."""
    stage = staged(0)
    stage.workers = replace(WORKERS, least=0, most=3)
    stage.add_waiting("orders", reactive(min_parallelism=6))
    seen = []
    for second in range(0, 240, 30):
        await stage.tick(second)
        seen.append(wanted(stage))

    assert seen == [0, 1, 1, 2, 2, 3, 3, 3]
    assert "3 workers instead of 2: orders waited in vain for slots" in stage.events.told[-1].message


async def test_no_further_worker_is_asked_for_before_the_last_one_is_there() -> None:
    """Starting takes its time, and the job may wait for that one alone."""
    stage = staged(1)
    stage.add_waiting("orders", reactive())
    assert stage.provider
    for second in (0, 10, 20):
        stage.provider.dead = 1
        await stage.tick(second)
    assert wanted(stage) == 1


async def test_a_growth_does_not_wait_for_workers_that_never_come() -> None:
    """After some minutes the engine makes of it what it can, as without a provider."""
    stage = staged(1)
    stage.add("plain", AutoscalerOptions())
    await ticks(stage, 0)
    stage.factors = {"agg": 4.0}
    found = {}
    for second in (30, 60, 300, 330, 360):
        stage.slots = 2
        found[second] = (await stage.tick(second))["plain"].outcome
    assert [second for second, outcome in found.items() if outcome is Outcome.RESCALE] == [360]


async def test_workers_of_unknown_size_stay_as_many() -> None:
    """Nobody can tell how many of them any slots take."""
    stage = staged(1, factors={"agg": 4.0})
    stage.add("orders", AutoscalerOptions())
    found = stage.steering
    look = {one.ctx.key: one for one in stage.seen.values()}
    for key, one in look.items():
        assert one.sample
        settings = replace(one.sample.settings, slots_per_task_manager_known=False)
        look[key] = replace(one, sample=replace(one.sample, settings=settings, slots_total=2))
        found.ledger.needs[key] = 8
    await found.steer(look, [], (), at(0))
    assert wanted(stage) == 1


async def test_a_job_that_lacks_slots_gives_up_those_of_another() -> None:
    """Two need four each and four are left: who comes later in line keeps no more than it cannot do without."""
    stage = ReactiveStage(slots=8)
    stage.add("first", reactive(min_parallelism=4, weight=2.0))
    stage.add("second", reactive(min_parallelism=4))
    await ticks(stage, 0, 10, 20)
    stage.slots = 4
    await ticks(stage, *range(30, 120, 10))

    assert stage.parallelism("first")["agg"] == 4
    assert stage.parallelism("second")["agg"] == 1


async def test_offers_that_fail_are_an_event() -> None:
    """The cycle goes on."""
    stage = staged(1)
    stage.add("orders", reactive())
    broken = replace(stage.seen["orders"], ctx=None)  # type: ignore[arg-type]
    stage.steering.begin({JobKey("prod", "orders"): broken}, at(0))
    assert stage.events.reasons == [EventReason.AUTOSCALER_ERROR]
