"""The agent at work over an engine that is made up: it decides, acts, tells, and never lets a failure out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Event as Flag
from threading import Thread
from typing import Any

import pytest

from headgate.agent.attached import Agent
from headgate.agent.attaching import confirm_ended, confirm_same
from headgate.agent.composing import Control, Engine
from headgate.agent.journal import Journal
from headgate.agent.loop import ControlLoop
from headgate.engines.spark.attached.restarts import QueryRestarts
from headgate.errors import ConflictError, UnreachableError, UnsupportedError
from headgate.model.decision import Outcome
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.orders import Given
from headgate.model.reasons import Reason
from headgate.model.rollback import JobFailures
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.agent import AgentOptions
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.plugins import PluginOptions
from headgate.options.service import Mode
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.plugins.registry import Registry
from headgate.ports import CollectedMetrics, JobContext
from headgate.stores.memory import MemoryStateStore
from headgate.testing.builders import chain, context, evaluated, sample
from headgate.testing.fakes import FakeEngine

APP = JobKey("spark", "orders")
PATIENCE_S = 60.0
INTERVAL = timedelta(milliseconds=20)
OPTIONS = AgentOptions(
    collect_interval=INTERVAL,
    decide_interval=INTERVAL,
    autoscaler=replace(
        AutoscalerOptions(),
        evaluator="micro-batch",
        metrics_window=timedelta(minutes=1),
        stabilization_interval=timedelta(),
        alignment_mode="OFF",
    ),
)


class Application(FakeEngine):
    """An application on two cores whose samples are always fresh."""

    async def update_metrics(self, ctx: JobContext, tick: datetime, /) -> JobSample:
        """Measure now."""
        running = await super().update_metrics(ctx, tick)
        fresh = sample(running.topology, job=APP, tick=tick, running_since=running.running_since)
        return replace(fresh, settings=EngineSettings(metric_refresh_s=60.0, shared_workers=True))

    async def query_failures(self, _ctx: JobContext, _since: datetime, /) -> JobFailures:
        """Know of none."""
        return JobFailures(failures=())


class NoQueries:
    """A session without queries."""

    def __getattr__(self, name: str) -> Any:
        """Know of none, whatever is asked."""
        return lambda *_: None


class DoublesOnce:
    """Wants four cores for the query, whatever it is on."""

    def evaluate(self, _conf: object, collected: CollectedMetrics, _restart_time: timedelta) -> EvaluatedMetrics:
        """Answer."""
        return evaluated(collected.topology, {"orders": 4 / collected.topology.vertices[0].parallelism})


class Host(PluginHost):
    """A host whose evaluator is that one."""

    def __init__(self) -> None:
        """Know of no plugin else."""
        super().__init__(Catalog(Registry(), Tables()), PluginOptions())

    def ready(self, kind: Kind, name: str) -> Plugin:
        """Give it."""
        if kind is not Kind.METRIC_EVALUATOR:
            return super().ready(kind, name)
        return Plugin(name=name, distribution="somebody", port=DoublesOnce())


def until(condition: Callable[[], object]) -> None:
    """Wait for what comes in its own time."""
    waited = Flag()
    for _ in range(int(PATIENCE_S / 0.01)):
        if condition():
            return
        waited.wait(0.01)
    pytest.fail("it did not come")


class Story:
    """An application with its agent."""

    def __init__(self) -> None:
        """Put both together; the agent has not begun."""
        self.application = Application()
        self.application.add(
            context(APP, options=OPTIONS.autoscaler),
            sample(chain({"orders": 2}), job=APP, running_since=datetime(2026, 1, 1, tzinfo=UTC)),
        )
        self.alive = True
        self.ended, self.released, self.held = Flag(), Flag(), Flag()
        self.journal = Journal()
        self.store = MemoryStateStore()
        restarts = QueryRestarts(NoQueries(), {})
        engine = Engine(
            job=APP,
            jobs=self.application,
            collector=self.application,
            failures=self.application,
            realizer=self.application,
            restarts=restarts,
            release=self._release,
            hold=self._hold,
        )
        control = Control(
            engine=engine,
            options=OPTIONS,
            mode=Mode.ACT,
            host=Host(),
            store=self.store,
            journal=self.journal,
        )
        self.is_alive: Callable[[], bool] = lambda: self.alive
        self.loop = ControlLoop(control.runner, is_alive=lambda: self.is_alive(), on_end=self.ended.set)  # noqa: PLW0108 - a story may change it
        self.agent = Agent(engine=engine, journal=self.journal, mode=Mode.ACT, loop=self.loop)

    async def _release(self) -> None:
        self.released.set()

    async def _hold(self) -> None:
        self.held.set()

    @property
    def cores(self) -> int:
        """What the application runs on."""
        return self.application.jobs[APP].topology.vertices[0].parallelism


@pytest.fixture
def story() -> Iterator[Story]:
    """Begin one, and end it."""
    told = Story()
    yield told
    told.agent.close()


def test_it_scales_and_explains_itself(story: Story) -> None:
    """From samples to another number of cores without anybody's help, and why in words."""
    assert story.agent.explain() == "spark/orders: nothing was decided yet"
    story.loop.start()
    until(lambda: story.cores == 4)
    until(lambda: story.agent.status.cores == 4)
    assert any("orders: 2 -> 4" in event.message or "orders 2 -> 4" in event.message for event in story.agent.events)
    until(lambda: story.agent.status.outcome is Outcome.KEEP)
    assert story.agent.explain().startswith("spark/orders at ")
    assert story.agent.status.queries == ("orders",)


def test_while_it_is_paused_it_only_says_what_it_would_do(story: Story) -> None:
    """And does it once it is resumed."""
    story.agent.pause("an experiment")
    story.loop.start()
    until(lambda: any(proposal.wanted == 4 for made in story.agent.decisions for proposal in made.proposals))
    assert story.agent.status.reason is Reason.PAUSED
    assert "an experiment; without that: " in story.agent.status.message
    assert story.agent.status.mode is Mode.ADVISE
    assert not story.application.requests
    story.agent.resume()
    until(lambda: story.cores == 4)


def test_it_ends_with_the_application(story: Story) -> None:
    """What it had opened is closed, and nothing is left running."""
    story.loop.start()
    until(lambda: story.agent.decisions)
    story.alive = False
    assert story.ended.wait(PATIENCE_S)
    until(lambda: not story.agent.status.running)


def test_closing_it_twice_is_no_error_and_leaves_the_application_as_it_is(story: Story) -> None:
    """It may be a context manager too."""
    story.loop.start()
    with story.agent as agent:
        until(lambda: agent.decisions)
    agent.close()
    assert story.ended.is_set()
    assert not agent.status.running


def test_an_application_that_does_not_answer_is_an_event_and_it_goes_on(story: Story) -> None:
    """Told once, not at every tick."""
    story.application.faults[APP] = UnreachableError("the driver's JVM failed: for a while")
    story.loop.start()
    until(lambda: len(story.agent.decisions) > 10)
    assert sum("for a while" in event.message for event in story.agent.events) == 1
    del story.application.faults[APP]
    until(lambda: story.cores == 4)


def test_whatever_fails_in_it_stays_in_it(story: Story, caplog: pytest.LogCaptureFixture) -> None:
    """Also what no tick can catch: it is logged, and the agent begins anew."""
    calls = []

    def is_alive() -> bool:
        calls.append(1)
        if len(calls) == 1:
            message = "of its own making"
            raise ZeroDivisionError(message)
        return True

    story.is_alive = is_alive
    story.loop.start()
    until(lambda: story.cores == 4)
    assert "the control loop failed" in caplog.text


def test_told_to_stop_it_does_not_count_as_running(story: Story) -> None:
    """Also while its thread still sees a tick through: who attaches then needs a new one."""
    looked, goes_on = Flag(), Flag()

    def is_alive() -> bool:
        looked.set()
        goes_on.wait(PATIENCE_S)
        return True

    story.is_alive = is_alive
    story.loop.start()
    assert looked.wait(PATIENCE_S)
    closing = Thread(target=story.agent.close)
    closing.start()
    until(lambda: not story.agent.status.running)
    assert not story.ended.is_set()
    with pytest.raises(ConflictError, match="closed"):
        confirm_ended(story.agent)
    goes_on.set()
    closing.join()
    assert story.ended.wait(PATIENCE_S)
    until(lambda: story.agent.has_ended)
    confirm_ended(story.agent)


def test_paused_it_lets_go_of_the_executors(story: Story) -> None:
    """Who decided on their number before may do so again."""
    story.loop.start()
    story.agent.pause()
    assert story.released.wait(PATIENCE_S)
    story.released.clear()
    assert story.released.wait(PATIENCE_S), "a tick under way may have asked for executors since"
    assert not story.held.is_set()
    story.agent.resume()
    assert story.held.wait(PATIENCE_S)


def test_a_pause_from_elsewhere_is_followed(story: Story) -> None:
    """Somebody orders it through the store, as `headgate pause` does: it is the same as the agent's own."""
    story.loop.start()
    pause = Given(at=datetime(2026, 1, 1, tzinfo=UTC), by="anna@host")
    story.store.change_orders(APP, lambda orders: replace(orders, pause=pause))
    assert story.released.wait(PATIENCE_S)
    assert story.agent.status.mode is Mode.ADVISE
    story.agent.resume()
    assert story.held.wait(PATIENCE_S)
    assert story.store.orders().pause_of(APP) is None


def test_an_agent_of_other_queries_is_not_taken_for_this_one() -> None:
    """Neither one of a single query for all, nor the other way round."""
    confirm_same(None, None)
    confirm_same("orders", "orders")
    with pytest.raises(UnsupportedError, match=r"query 'orders' alone.*query 'clean' alone"):
        confirm_same("orders", "clean")
    with pytest.raises(UnsupportedError, match="all queries"):
        confirm_same(None, "clean")
