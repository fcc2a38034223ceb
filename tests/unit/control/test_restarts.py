"""How long a restart is expected to take, and who says so."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from tests.unit.no_time import in_no_time

from headgate.control.restarts import Restarts
from headgate.control.runner import Runner
from headgate.model.downtime import Downtime
from headgate.model.metrics import NotReady
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, START, at, chain, context, evaluated, sample
from headgate.testing.fakes import FakeEngine
from headgate.testing.scenario import Scenario

SAMPLE = sample(chain({"source": 2}))
RESTARTED = ScalingRecord(decision_id="d", at=START, before={}, after={}, restart=timedelta(seconds=77))


@dataclass(frozen=True)
class Saying:
    """A model that always says the same: in place the half of it."""

    high: float

    def predict(self, _sample: JobSample, /, *, redeploy: bool) -> Downtime:
        """Predict."""
        high = timedelta(seconds=self.high if redeploy else self.high / 2)
        return Downtime(expected=high / 2, low=high / 4, high=high, basis="told so")


def _restart_s(restarts: Restarts, options: AutoscalerOptions) -> float:
    found = restarts.expecting(context(options=options), SAMPLE, [RESTARTED])
    return found.restart_time.total_seconds()


def test_the_upper_end_is_what_is_expected() -> None:
    """In whole seconds of two digits, never less; and the job's own realizer makes the difference."""
    restarts = Restarts(model=Saying(202.2))

    assert _restart_s(restarts, AutoscalerOptions()) == 110
    assert _restart_s(restarts, AutoscalerOptions(realizer="savepoint-redeploy")) == 210


def test_no_more_than_the_limit_of_tracked_restarts_is_expected() -> None:
    """A model that says hours would never let a job shrink again."""
    assert _restart_s(Restarts(model=Saying(90_000)), AutoscalerOptions()) == 900


@pytest.mark.parametrize(
    "options",
    [AutoscalerOptions(downtime_model_enabled=False), AutoscalerOptions(parity=Parity.REFERENCE)],
    ids=["switched off", "parity"],
)
def test_without_the_model_the_options_say_and_what_was_tracked(options: AutoscalerOptions) -> None:
    """As the reference does it."""
    restarts = Restarts(model=Saying(20))

    assert _restart_s(restarts, options) == 300
    assert _restart_s(restarts, replace(options, restart_time_tracking_enabled=True)) == 77


def test_a_model_that_says_nothing_leaves_the_options_as_they_are() -> None:
    """The very same object."""
    options = AutoscalerOptions()

    assert Restarts().expecting(context(options=options), SAMPLE, []) is options


def test_the_same_expectation_gives_the_same_object() -> None:
    """A job whose options are new would be laid out anew in each cycle, with its whole fleet."""
    restarts, job = Restarts(model=Saying(20)), context(options=AutoscalerOptions())
    first = restarts.expecting(job, SAMPLE, [])

    assert restarts.expecting(job, SAMPLE, []) is first
    restarts.keep_only([ORDERS])
    assert restarts.expecting(job, SAMPLE, []) is first
    restarts.keep_only([])
    assert restarts.expecting(job, SAMPLE, []) is not first


def test_what_was_predicted_is_noted_on_what_was_evaluated() -> None:
    """Deciding reads it there; of a job that is not ready nothing is noted."""
    answer, restarts = evaluated(SAMPLE.topology, {}), Restarts(model=Saying(20))
    noted = restarts.noted(context(), SAMPLE, answer)
    not_ready = NotReady(reason=Reason.STABILIZING, message="")

    assert replace(answer, downtime=Saying(20).predict(SAMPLE, redeploy=False)) == noted
    assert restarts.noted(context(), SAMPLE, not_ready) is not_ready
    assert Restarts().noted(context(), SAMPLE, answer) is answer


def test_what_is_learnt_during_a_cycle_holds_from_the_next_sample_on() -> None:
    """The restart that a window is evaluated with is the one that the decision names."""

    @dataclass
    class Learning:
        high: float = 100.0

        def predict(self, _sample: JobSample, /, *, redeploy: bool) -> Downtime:  # noqa: ARG002 - the port's
            high = timedelta(seconds=self.high)
            return Downtime(expected=high, low=high, high=high, basis="told so")

    model = Learning()
    restarts, ctx = Restarts(model=model), context(options=AutoscalerOptions())
    before = restarts.downtime(ctx, SAMPLE)
    model.high = 50.0

    assert restarts.downtime(ctx, SAMPLE) == before
    later = restarts.downtime(ctx, replace(SAMPLE))
    assert later is not None
    assert later.high == timedelta(seconds=50)


@dataclass
class RestartingEngine(FakeEngine):
    """Its jobs restart at some seconds of the story."""

    restarts_s: tuple[float, ...] = ()

    async def update_metrics(self, ctx: JobContext, tick: datetime, /) -> JobSample:
        """Give a sample of the run that goes on."""
        since = max(begin for begin in (START, *map(at, self.restarts_s)) if begin <= tick)
        return replace(await super().update_metrics(ctx, tick), at=tick, running_since=since)


async def _learnt_at(restarts_s: tuple[float, ...], *, until_s: float, options: AutoscalerOptions) -> list[datetime]:
    """Run a service over a job that restarts, decisions every two seconds; give up to when was learnt each time."""
    world, loop = Scenario(engine=RestartingEngine(restarts_s=restarts_s)), asyncio.get_running_loop()
    world.engine.add(context(options=options), SAMPLE)
    learnt, often, stop = list[datetime](), timedelta(seconds=2), asyncio.Event()
    runner = Runner(
        observers=(world.observer,),
        cycle=replace(world.cycle(), restarts=Restarts(model=Saying(20), learn=learnt.append)),
        events=world.events,
        collect_interval=often,
        decide_interval=often,
        clock=lambda: at(loop.time()),
    )
    loop.call_later(until_s, stop.set)
    await runner.run(stop)
    return learnt


@in_no_time
async def test_what_a_restart_took_is_learnt_as_soon_as_it_was_seen() -> None:
    """In the cycle that sees it, or the next one; long before two minutes are over, when it would be learnt anyway."""
    first, _, soon = await _learnt_at((40.0,), until_s=110, options=AutoscalerOptions())

    assert first == START
    assert at(40) <= soon <= at(44)


@in_no_time
async def test_jobs_that_restart_all_the_time_are_not_learnt_from_all_the_time() -> None:
    """Each reading is a query of the log."""
    learnt = await _learnt_at(tuple(range(10, 100, 2)), until_s=110, options=AutoscalerOptions())

    assert 8 <= len(learnt) <= 11
    assert all(later - earlier >= timedelta(seconds=10) for earlier, later in pairwise(learnt))


@in_no_time
async def test_nothing_is_learnt_sooner_for_a_job_that_does_not_go_by_it() -> None:
    """As in the reference."""
    learnt = await _learnt_at((40.0,), until_s=110, options=AutoscalerOptions(parity=Parity.REFERENCE))

    assert all(instant < at(40) for instant in learnt)


@in_no_time
async def test_what_the_log_holds_is_learnt_after_the_first_cycle() -> None:
    """It may be the one that starts Spark, before which nothing can be read."""
    learnt = await _learnt_at((), until_s=110, options=AutoscalerOptions())

    assert learnt == [START, at(10)]
