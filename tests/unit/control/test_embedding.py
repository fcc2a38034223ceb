"""Headgate inside of another program: the cycle over ports of one's own."""

from __future__ import annotations

from datetime import timedelta

from tests.conformance.simulated_stage import SimulatedStage

from headgate.control.embedding import EmbeddedAutoscaler
from headgate.model.decision import Decision
from headgate.model.reasons import Reason
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.options.service import Mode
from headgate.stores.memory import MemoryStateStore
from headgate.testing.fakes import RecordingEvents

WINDOW = timedelta(minutes=1)
OPTIONS = AutoscalerOptions(
    metrics_window=WINDOW,
    stabilization_interval=timedelta(),
    catch_up_duration=timedelta(),
    reaction=Reaction.WINDOWED,
)


async def lived(stage: SimulatedStage, mode: Mode, **rest: object) -> Decision:
    """Observe a job for a minute, and decide."""
    autoscaler = EmbeddedAutoscaler(
        jobs=stage.fetcher_with(OPTIONS),
        collector=stage.collector,
        realizer=stage.realizer,
        mode=mode,
        longest_window=WINDOW,
        events=RecordingEvents(),
        **rest,  # type: ignore[arg-type]
    )
    for _ in range(9):
        await stage.pass_time()
        await autoscaler.observe(stage.cluster.now)
    (decision,) = await autoscaler.decide(stage.cluster.now)
    return decision


async def test_it_asks_the_engine() -> None:
    """A vertex that could do with more gets it."""
    stage = SimulatedStage()
    decision = await lived(stage, Mode.ACT)
    assert decision.reason is Reason.RESCALED
    assert stage.asked() == decision.targets


async def test_advice_changes_nothing() -> None:
    """The same decision, and the engine hears nothing of it."""
    stage = SimulatedStage()
    decision = await lived(stage, Mode.ADVISE)
    assert decision.reason is Reason.ADVICE
    assert stage.requests() == 0


async def test_a_store_of_ones_own_holds_the_intent() -> None:
    """What must survive the program is there before the engine is asked."""
    stage, store = SimulatedStage(), MemoryStateStore()
    decision = await lived(stage, Mode.ACT, store=store)
    intent = store.load(stage.job.key).state.intent
    assert intent is not None
    assert intent.decision_id == decision.id
