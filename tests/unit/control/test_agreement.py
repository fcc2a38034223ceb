"""A job that owes its users something, cycle by cycle: what is told of it is about what came of a decision at last."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headgate.algorithm.explain import explain
from headgate.algorithm.review import forbidden
from headgate.control.deciding import Answer, PlainDecider
from headgate.control.reactive.deciding import ReactiveDecider
from headgate.errors import RefusedError
from headgate.model.decision import Decision, Outcome
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import ExecutionMode
from headgate.options.service import Mode
from headgate.options.sla import SlaOptions
from headgate.ports import JobContext
from headgate.testing.builders import ORDERS, chain, context, evaluated, sample
from headgate.testing.fakes import FakeEvaluator
from headgate.testing.scenario import Scenario

OPTIONS = AutoscalerOptions(
    sla=SlaOptions(recovery_time=timedelta(minutes=5)),
    restart_time=timedelta(seconds=60),
    scale_down_interval=timedelta(),
)
SOURCE = VertexId("source")


class _Vetoing(PlainDecider):
    """Decides as usual, and forbids what comes of it."""

    async def decide(
        self, ctx: JobContext, sample: JobSample, answer: Answer, now: datetime, state: JobState
    ) -> Decision:
        return forbidden(await super().decide(ctx, sample, answer, now, state), plugin="mine")


def _lagging(topology: Topology) -> EvaluatedMetrics:
    """Let 100,000 records wait: 833 s as it runs, 278 s with 7 subtasks."""
    known = evaluated(topology, {})
    source = known.vertices[SOURCE]
    late = replace(source, metrics={**source.metrics, ScalingMetric.LAG: 100_000.0})
    return replace(known, vertices={**known.vertices, SOURCE: late})


@pytest.fixture
def late() -> Scenario:
    """One running job, source -> agg with 4 subtasks each, that recovers too late as it runs."""
    return _world()


def _world(**options: object) -> Scenario:
    world = Scenario()
    world.evaluator = FakeEvaluator(lambda one: _lagging(one.sample.topology))
    ctx = context(options=replace(OPTIONS, **options))  # type: ignore[arg-type]
    world.engine.add(ctx, sample(chain({"source": 4, "agg": 4}), job=ORDERS))
    return world


def _assert_told(world: Scenario, decision: Decision) -> None:
    """Find that the job stays as late as it is, in what is kept and in what was told."""
    assert decision.forecast is not None
    assert decision.forecast.recovery_s == pytest.approx(100_000 / 120)
    assert any("agreement broken: 6 min behind, level again within 13.9 min" in line for line in explain(decision))
    assert world.events.reasons.count(EventReason.AGREEMENT_AT_RISK) == 1


async def test_a_rescale_that_is_made_keeps_it(late: Scenario) -> None:
    """In time with 7 subtasks: nobody needs to be told."""
    decision = (await late.tick(0))["orders"]

    assert decision.acts
    assert decision.forecast is not None
    assert decision.forecast.recovery_s == pytest.approx(278, abs=1)
    assert EventReason.AGREEMENT_AT_RISK not in late.events.reasons


async def test_advice_keeps_nothing(late: Scenario) -> None:
    """What nobody carries out leaves the job as late as it is; what it would cost is still said."""
    late.mode = Mode.ADVISE

    decision = (await late.tick(0))["orders"]

    assert decision.reason is Reason.ADVICE
    assert decision.price is not None
    _assert_told(late, decision)


async def test_a_refusal_keeps_nothing(late: Scenario) -> None:
    """Neither when the engine refuses, nor while that is remembered; and a rescale that is none has no price."""
    late.engine.realize_faults = [RefusedError("no")]

    refused = (await late.tick(0))["orders"]

    assert refused.reason is Reason.PARALLELISM_REJECTED
    assert refused.price is None
    _assert_told(late, refused)
    late.events.told.clear()
    remembered = (await late.tick(5))["orders"]
    assert remembered.reason is Reason.PARALLELISM_REJECTED
    _assert_told(late, remembered)


async def test_a_veto_keeps_nothing(late: Scenario) -> None:
    """A plugin forbids the rescale that would have been in time."""
    late.decider = _Vetoing()

    decision = (await late.tick(0))["orders"]

    assert decision.reason is Reason.SCALING_VETOED
    assert decision.price is None
    _assert_told(late, decision)


async def test_a_reactive_job_is_told_of() -> None:
    """It follows its slots, of which nothing is known yet, whatever is agreed."""
    world = _world(execution_mode=ExecutionMode.REACTIVE)
    world.decider = ReactiveDecider(usual=PlainDecider(), events=world.events)

    decision = (await world.tick(0))["orders"]

    assert decision.outcome is Outcome.KEEP
    _assert_told(world, decision)
