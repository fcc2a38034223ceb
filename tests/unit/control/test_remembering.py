"""What is remembered of a job from one cycle to the next: its wishes to shrink, and what its growth has brought."""

from __future__ import annotations

from dataclasses import replace

from headgate.errors import UnreachableError
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import Mode
from headgate.testing.builders import ORDERS, at, chain, context, evaluated, sample
from headgate.testing.scenario import Scenario


def _shrinking(world: Scenario) -> None:
    """Let agg run at 10 and need half of it."""
    ctx = context(options=AutoscalerOptions(alignment_mode="OFF"))
    world.engine.add(ctx, sample(chain({"source": 1, "agg": 10})))
    world.factors = {"agg": 0.5}


async def test_a_wish_to_shrink_outlives_the_process(world: Scenario) -> None:
    """It is kept with the job's state, and an hour later another process carries it out."""
    _shrinking(world)

    assert (await world.tick(0))["orders"].reason is Reason.LIMITED
    assert set(world.store.load(ORDERS).state.delayed) == {"agg"}
    assert (await world.tick(3_590))["orders"].reason is Reason.LIMITED
    assert (await world.tick(3_600))["orders"].reason is Reason.RESCALED
    assert world.engine.requests == [{"agg": 5}]
    assert world.store.load(ORDERS).state.delayed == {}


async def test_any_rescale_begins_the_delays_anew(world: Scenario) -> None:
    """The source grows in between: what agg wished before, it wished of another job."""
    _shrinking(world)
    await world.tick(0)
    world.factors = {"source": 3.0, "agg": 0.5}
    await world.tick(1_800)
    world.factors = {"agg": 0.5}

    await world.tick(3_600)

    assert world.engine.requests == [{"source": 3}]
    assert world.store.load(ORDERS).state.delayed[VertexId("agg")].first_at == at(3_600)


async def test_wishes_are_kept_in_advice_mode_too(world: Scenario) -> None:
    """Advice is what would be done, so it waits as long as that would, and then stays."""
    _shrinking(world)
    world.mode = Mode.ADVISE

    reasons = [(await world.tick(seconds))["orders"].reason for seconds in (0, 3_600, 3_660)]

    assert reasons == [Reason.LIMITED, Reason.ADVICE, Reason.ADVICE]
    assert world.engine.requests == []


async def test_a_cycle_that_is_not_ready_leaves_the_wishes_alone(world: Scenario) -> None:
    """A hole in the metrics does not begin the hour anew."""
    _shrinking(world)
    await world.tick(0)
    world.evaluator.fault = UnreachableError("the Spark cluster is away")
    await world.tick(1_800)
    world.evaluator.fault = None

    assert (await world.tick(3_600))["orders"].reason is Reason.RESCALED


async def test_the_next_growth_is_judged_by_the_last_one(world: Scenario) -> None:
    """Rates and expectation go through the saved history: agg does no more with four subtasks than with one."""
    options = AutoscalerOptions(effectiveness_detection_enabled=True)
    world.engine.add(context(options=options), sample(chain({"source": 1, "agg": 1})))
    await world.tick(0)
    stuck = evaluated(chain({"agg": 1}), {"agg": 4.0}).vertices[VertexId("agg")]
    world.evaluator.answer = lambda one: replace(
        evaluated(one.sample.topology, {}),
        vertices={**evaluated(one.sample.topology, {}).vertices, VertexId("agg"): stuck},
    )

    decision = (await world.tick(60))["orders"]

    assert world.engine.requests == [{"agg": 4}]
    assert [step.reason for step in decision.proposals[1].steps][-1] is Reason.INEFFECTIVE_SCALING


async def test_a_resubmitted_job_waits_its_hour_too() -> None:
    """The old submission wished to shrink at 0 s; the new one runs since 20 000 s and is looked at 600 s later."""
    options = AutoscalerOptions(alignment_mode="OFF")
    world = Scenario(factors={"agg": 0.5})
    world.engine.add(context(options=options), sample(chain({"source": 1, "agg": 10})))
    await world.tick(0)
    new = sample(chain({"source": 1, "agg": 10}), job_id="j2", running_since=at(20_000))
    world.engine.add(context(job_id="j2", options=options), new)

    await world.tick(20_600)

    assert world.engine.requests == []


async def test_nothing_is_asked_of_the_engine_in_an_excluded_period() -> None:
    """The first request is made two minutes before the period, its deadline passes within it."""
    options = AutoscalerOptions(excluded_periods=("0:02-1:00",), excluded_periods_time_zone="UTC")
    world = Scenario(factors={"agg": 4.0})
    world.engine.obeys = False
    world.engine.add(context(options=options), sample(chain({"source": 1, "agg": 1})))
    await world.tick(0)

    await world.tick(1_000)

    assert len(world.engine.requests) == 1


async def test_a_wish_that_is_repeated_is_not_saved_each_time() -> None:
    """A fleet that waits to shrink at night must not rewrite all its states in every cycle."""
    world = Scenario(factors={"agg": 0.5})
    world.engine.add(context(), sample(chain({"source": 1, "agg": 10})))

    for seconds in range(0, 170, 10):
        await world.tick(seconds)

    assert world.store.load(ORDERS).version == 1
    await world.tick(190)
    assert world.store.load(ORDERS).version == 2
