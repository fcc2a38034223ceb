"""Workers that follow what the jobs of their cluster need."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headgate.errors import RefusedError, UnreachableError
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.orders import Given, Orders
from headgate.model.reasons import Reason
from headgate.model.rollback import Run, Trial
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import WorkersOptions
from headgate.options.service import Mode
from headgate.testing.builders import at, chain
from headgate.testing.reacting import FakeProvider, ReactiveStage, reactive

WORKERS = WorkersOptions(provider="fake", least=1, most=4, scale_down_interval=timedelta(seconds=60))
TRIAL = Trial(
    decision_id="d1",
    began_at=at(0),
    before=Run(job_id="orders", fingerprint="f", parallelism={VertexId("agg"): 1}),
    after={VertexId("agg"): 4},
)


def staged(wanted: int = 2, **rest: object) -> ReactiveStage:
    """Give a cluster with workers of two slots each, on which an engine in reactive mode runs one job."""
    provider = FakeProvider(wanted=wanted)
    stage = ReactiveStage(slots=2 * wanted, engine_reactive=True, provider=provider, workers=WORKERS, **rest)  # type: ignore[arg-type]
    stage.add("orders", reactive(), chain({"source": 2 * wanted, "agg": 2 * wanted}))
    return stage


def requests(stage: ReactiveStage) -> list[int]:
    """Give what the provider was asked for."""
    assert stage.provider
    return stage.provider.requests


async def test_more_are_asked_for_as_soon_as_the_need_is_known() -> None:
    """The load needs 1.5 times what four slots do: three workers, and one event of it."""
    stage = staged(factors={"agg": 1.5})
    await stage.tick(0)
    stage.factors = {}
    await stage.tick(30)

    assert requests(stage) == [3, 3]
    assert stage.parallelism("orders") == {"source": 6, "agg": 6}
    assert stage.events.reasons == [EventReason.WORKERS_REQUESTED]
    assert "3 workers instead of 2: orders needs 6 slots" in stage.events.told[0].message


async def test_fewer_only_after_they_were_enough_for_a_while() -> None:
    """And then as many as were needed at most meanwhile."""
    stage = staged(wanted=4, factors={"agg": 0.25, "source": 0.25})
    await stage.tick(0)
    stage.factors = {"agg": 0.5, "source": 0.5}
    await stage.tick(30)
    stage.factors = {"agg": 0.25, "source": 0.25}
    assert set(requests(stage)) == {4}
    await stage.tick(60)

    assert requests(stage)[-1] == 2


async def test_never_beyond_the_bounds() -> None:
    """However large the need, and however small."""
    stage = staged(factors={"agg": 50.0})
    await stage.tick(0)
    assert requests(stage) == [4]

    stage.workers = replace(WORKERS, least=3, scale_down_interval=timedelta())
    stage.factors = {"agg": 0.01, "source": 0.01}
    await stage.tick(30)
    await stage.tick(60)
    assert requests(stage)[-1] == 3


async def test_a_job_without_numbers_keeps_its_workers() -> None:
    """Nobody knows what it needs, for however long."""
    stage = staged(unknown={"orders"})
    for second in (0, 60, 120, 600):
        await stage.tick(second)
    assert set(requests(stage)) == {2}


async def test_none_goes_while_a_rescale_has_not_proved_good() -> None:
    """It may have to be taken back, and needs its slots then."""
    stage = staged(factors={"agg": 0.5, "source": 0.5})
    stage.states["orders"] = JobState(trial=TRIAL)
    for second in (0, 60, 120):
        await stage.tick(second)
    assert set(requests(stage)) == {2}

    stage.states.clear()
    await stage.tick(180)
    assert requests(stage)[-1] == 1


async def test_a_worker_that_died_is_replaced() -> None:
    """It is asked for the same in every cycle; that something was missing is told."""
    stage = staged()
    await stage.tick(0)
    assert stage.provider
    stage.provider.dead = 1
    await stage.tick(30)

    assert requests(stage) == [2, 2]
    assert "asked again for 2 workers: one was missing" in stage.events.told[-1].message


async def test_before_a_worker_goes_its_slots_are_let_go_of() -> None:
    """A job that Headgate steers shrinks first, by no more than one step may; then two workers are asked to go."""
    stage = ReactiveStage(slots=8, provider=FakeProvider(wanted=4), workers=WORKERS)
    stage.add("orders", reactive())
    for second in (0, 10):
        await stage.tick(second)
    assert stage.parallelism("orders")["agg"] == 8

    stage.factors = {"agg": 0.25, "source": 0.25}
    seen = []
    for second in (20, 80, 90, 100, 110):
        await stage.tick(second)
        seen.append((stage.parallelism("orders")["agg"], requests(stage)[-1]))

    assert seen == [(8, 4), (8, 4), (8, 4), (4, 4), (4, 2)]


async def test_any_job_gets_its_workers_before_it_grows() -> None:
    """It is not asked of the engine what there are no slots for; with the workers there it is."""
    stage = ReactiveStage(slots=2, provider=FakeProvider(wanted=1), workers=WORKERS)
    stage.add("plain", AutoscalerOptions())
    await stage.tick(0)
    stage.factors = {"agg": 4.0}

    waiting = (await stage.tick(30))["plain"]
    grown = (await stage.tick(60))["plain"]

    assert waiting.reason is Reason.WORKERS_AWAITED
    assert requests(stage) == [1, 2, 2]
    assert grown.changes[VertexId("agg")].wanted == 4


async def test_a_growth_for_which_no_workers_can_be_had_is_not_held_back() -> None:
    """Then the engine makes of it what it can, as without a provider."""
    stage = ReactiveStage(slots=2, provider=FakeProvider(wanted=1), workers=replace(WORKERS, most=1))
    stage.add("plain", AutoscalerOptions())
    await stage.tick(0)
    stage.factors = {"agg": 4.0}
    assert (await stage.tick(30))["plain"].changes


async def test_advice_asks_for_nothing() -> None:
    """What would be asked for is told once."""
    stage = staged(factors={"agg": 1.5}, mode=Mode.ADVISE)
    await stage.tick(0)

    assert requests(stage) == []
    assert "advice (nothing is changed): 3 workers instead of 2" in stage.events.told[0].message


async def test_a_provider_that_fails_is_its_clusters_event() -> None:
    """The jobs are decided for all the same, and it is tried again."""
    stage = staged(factors={"agg": 1.5})
    assert stage.provider
    stage.provider.fault = UnreachableError("no answer")
    decisions = await stage.tick(0)
    stage.provider.fault = RefusedError("no room for 3")
    await stage.tick(30)
    stage.provider.fault = None
    await stage.tick(60)

    assert decisions["orders"].reason is Reason.ENGINE_REACTIVE
    assert stage.events.reasons == [EventReason.WORKERS_FAILED] * 2 + [EventReason.WORKERS_REQUESTED]
    assert requests(stage) == [3]


async def test_a_restart_keeps_the_workers_that_were_asked_for() -> None:
    """The provider knows them; only the wait to shrink begins anew."""
    stage = staged(wanted=3, factors={"agg": 0.3, "source": 0.3})
    await stage.tick(0)
    stage.restart_headgate()
    await stage.tick(59)
    await stage.tick(100)
    assert set(requests(stage)) == {3}


async def test_a_cluster_whose_jobs_are_gone_goes_down_to_its_least() -> None:
    """One that does not answer keeps its jobs, so that one without any has said so."""
    stage = staged()
    await stage.tick(0)
    stage.seen.clear()
    for second in (30, 60, 90):
        await stage.tick(second)
    assert requests(stage) == [2, 2, 2, 1]


async def test_while_all_jobs_are_paused_no_worker_comes_or_goes() -> None:
    """Not even where no job is left, or the bounds are other ones now; one that dies is still replaced."""
    stage = staged()
    await stage.tick(0)
    stage.are_all_paused = True
    stage.seen.clear()
    for step, bounds in enumerate((WORKERS, WORKERS, replace(WORKERS, least=3), replace(WORKERS, most=1)), start=1):
        stage.workers = bounds
        await stage.tick(60 * step)
    assert requests(stage) == [2] * 5
    stage.are_all_paused = False
    await stage.tick(300)
    assert requests(stage)[-1] == 1


async def test_none_goes_while_a_job_is_paused_whatever_the_bounds_are() -> None:
    """They count again when it is resumed."""
    stage = staged(wanted=3)
    await stage.tick(0)
    seen = stage.seen["orders"]
    pause = Orders(pause=Given(at=at(10), by="anna@host"))
    stage.seen["orders"] = replace(seen, ctx=replace(seen.ctx, orders=pause))
    stage.workers = replace(WORKERS, most=2)
    await stage.tick(30)
    assert requests(stage) == [3, 3]


async def test_a_cluster_that_never_had_a_job_keeps_its_workers() -> None:
    """Whether it is empty or does not answer cannot be told apart."""
    stage = staged()
    stage.seen.clear()
    for second in (0, 100):
        await stage.tick(second)
    assert set(requests(stage)) == {2}


async def test_a_job_that_waits_for_its_first_worker_gets_one() -> None:
    """Where all may go, the first is asked for before the job can tell what it needs."""
    stage = staged(wanted=0)
    stage.workers = replace(WORKERS, least=0)
    stage.seen.clear()
    stage.add_waiting("orders", reactive())
    for second in (0, 30):
        await stage.tick(second)
    assert requests(stage) == [0, 1]
