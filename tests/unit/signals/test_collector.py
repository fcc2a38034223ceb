"""Samples get their job's signals, whatever becomes of the systems that these come from."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from headgate.errors import NotFoundError, UnreachableError
from headgate.model.events import EventReason
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, Signal, VertexSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.signals import SignalOptions, SignalUse
from headgate.plugins.ready import Plugin
from headgate.ports import JobContext, Missing
from headgate.signals.collector import WithSignals
from headgate.signals.discreet import DiscreetSource
from headgate.testing.builders import ORDERS, at, chain, context, sample
from headgate.testing.fakes import FakeEngine, RecordingEvents

SOURCE = VertexId("source")


@dataclass
class FakeSource:
    """Answers from a table, and notes what it was asked."""

    known: dict[str, Signal | Missing] = field(default_factory=dict)
    fault: Exception | None = None
    hangs: bool = False
    asked: list[tuple[JobContext, Sequence[str]]] = field(default_factory=list)

    async def query(self, ctx: JobContext, signals: Sequence[str], /) -> Mapping[str, Signal | Missing]:
        """Answer for what is known."""
        self.asked.append((ctx, list(signals)))
        if self.hangs:
            await asyncio.Event().wait()
        if self.fault:
            raise self.fault
        return {name: self.known[name] for name in signals if name in self.known}


class World:
    """A job on a fake engine, seen through signals."""

    def __init__(self, *declared: SignalOptions) -> None:
        """Let the job run with these signals."""
        self.engine, self.events = FakeEngine(), RecordingEvents()
        self.there, self.elsewhere = FakeSource(), FakeSource()
        self.ctx = context(options=AutoscalerOptions(signals_in_force=declared))
        self.engine.add(self.ctx, sample(chain({"source": 1, "sink": 1})))
        self.collector = WithSignals(
            self.engine,
            {"there": self.there, "elsewhere": self.elsewhere},
            events=self.events,
            time_limit=timedelta(milliseconds=20),
        )

    def tell(self, name: str, value: float, seconds: float = 0) -> None:
        """Let a signal have a value that was true at a time."""
        self.there.known[name] = Signal(value=value, measured_at=at(seconds))

    def measure(self, seconds: float, lag: float | None = None) -> None:
        """Let the engine measure its vertices again, with or without a lag."""
        values = {} if lag is None else {Measure.LAG: lag}
        measured = VertexSample(measured_at=at(seconds), values=values)
        self.engine.jobs[ORDERS] = replace(self.engine.jobs[ORDERS], at=at(seconds), vertices={SOURCE: measured})

    async def take(self, seconds: float = 0) -> JobSample:
        """Take a sample."""
        return await self.collector.update_metrics(self.ctx, at(seconds))

    async def lag(self, seconds: float, engines: float | None = None) -> float | None:
        """Measure and take a sample, and give the lag that it has."""
        self.measure(seconds, engines)
        return (await self.take(seconds)).vertices[SOURCE].values.get(Measure.LAG)


def signal(name: str = "depth", source: str = "there", **others: object) -> SignalOptions:
    """Declare a signal."""
    return SignalOptions(name=name, source=source, **others)  # type: ignore[arg-type]


async def test_without_declared_signals_nothing_is_changed_or_asked() -> None:
    """The sample is the collector's own, the very same."""
    world = World()
    assert await world.take() is world.engine.jobs[ORDERS]
    assert world.there.asked == []


async def test_a_sample_has_the_signals_of_all_sources() -> None:
    """Each source is asked once for all that it has."""
    world = World(signal("depth"), signal("width"), signal("cpu", source="elsewhere"))
    world.tell("depth", 7.0)
    world.tell("width", 8.0)
    world.elsewhere.known["cpu"] = Signal(value=0.5, measured_at=at(3))
    signals = (await world.take()).signals
    assert {name: one.value for name, one in signals.items()} == {"depth": 7.0, "width": 8.0, "cpu": 0.5}
    assert [names for _, names in world.there.asked] == [["depth", "width"]]
    assert await world.collector.query_external_metrics(world.ctx) == signals


async def test_a_source_knows_the_vertices_by_name() -> None:
    """Queries may name one; a signal of exactly one vertex says so."""
    world = World(signal(vertex="si*"))
    world.tell("depth", 7.0)
    assert (await world.take()).signals["depth"].vertex == "sink"
    assert world.there.asked[0][0].vertices == {"source": "source", "sink": "sink"}


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (UnreachableError("there is down"), "there is down"),
        (ValueError("a bug"), "ValueError: a bug"),
        (None, "there gave no answer to it"),
    ],
)
async def test_a_failure_is_one_event_a_signal_and_not_the_jobs(fault: Exception | None, why: str) -> None:
    """The sample comes without the signal, as do those of the next ticks; the handler merges by the signal."""
    world = World(signal())
    world.there.fault = fault
    assert (await world.take()).signals == {}
    await world.take(10)
    assert world.events.reasons == [EventReason.SIGNAL_UNAVAILABLE] * 2
    first, second = world.events.told
    assert first.message == f"signal depth cannot be read for prod/orders: {why}"
    assert first.key == second.key == "signal:depth"
    assert first.merge_interval


async def test_a_source_that_hangs_holds_up_no_sample() -> None:
    """Its time is limited; the signals of other sources are there."""
    world = World(signal(), signal("cpu", source="elsewhere"))
    world.there.hangs = True
    world.elsewhere.known["cpu"] = Signal(value=0.5, measured_at=at(0))
    assert set((await world.take()).signals) == {"cpu"}
    assert world.events.told[0].message.endswith("there was no answer within 0.02 s")


async def test_what_is_no_number_is_missing() -> None:
    """Also where somebody else's source says so."""
    world = World(signal("nan"), signal("inf"))
    world.tell("nan", float("nan"))
    world.tell("inf", float("inf"))
    assert (await world.take()).signals == {}
    assert [event.message.rpartition(": ")[2] for event in world.events.told] == [
        "its value is nan",
        "its value is inf",
    ]


async def test_a_value_is_kept_with_its_own_time_while_its_source_fails() -> None:
    """Who reads it tells whether it is too old; another run of the job begins with nothing."""
    world = World(signal())
    world.tell("depth", 7.0, seconds=1)
    await world.take()
    world.there.fault = UnreachableError("there is down")
    assert (await world.take(300)).signals == {"depth": Signal(value=7.0, measured_at=at(1))}
    world.ctx = replace(world.ctx, job_id="j2")
    assert (await world.take(310)).signals == {}
    world.there.fault = None
    await world.take(320)
    world.collector.forget(ORDERS)
    assert "forget prod/orders" in world.engine.diary


async def test_a_source_that_nobody_made_is_told() -> None:
    """Which the options would have refused."""
    world = World(signal(source="nowhere"))
    await world.take()
    assert world.events.told[0].message.endswith("there is no source nowhere")


async def test_the_sample_fails_as_the_collector_does() -> None:
    """A job that is gone is gone, whatever its signals are doing."""
    world = World(signal())
    world.tell("depth", 7.0)
    await world.take()
    world.engine.faults[ORDERS] = NotFoundError("gone")
    world.there.hangs = True
    with pytest.raises(NotFoundError):
        await world.take(10)


async def test_a_collector_of_ones_own_may_give_signals() -> None:
    """By `query_external_metrics`, under the declared name."""

    class Own(FakeEngine):
        async def query_external_metrics(self, ctx: JobContext, /) -> Mapping[str, Signal]:  # noqa: ARG002
            return {"mine": Signal(value=3.0, measured_at=at(0)), "other": Signal(value=4.0, measured_at=at(0))}

    world, own = World(signal("mine", source="collector"), signal("absent", source="collector")), Own()
    own.add(world.ctx, sample(chain({"source": 1})))
    collector = WithSignals(own, {}, events=world.events, time_limit=timedelta(seconds=1))
    assert (await collector.update_metrics(world.ctx, at(0))).signals == {"mine": Signal(value=3.0, measured_at=at(0))}
    assert world.events.told[0].message.endswith("the job's collector does not give it")


async def test_a_lag_enters_the_sample_once_a_reading() -> None:
    """A value that was not read anew is no lag that stands still; one below zero is none."""
    world = World(signal(use=SignalUse.LAG))
    world.tell("depth", 700.0, seconds=0)
    assert await world.lag(0) == 700.0
    assert await world.lag(10) is None
    world.tell("depth", 900.0, seconds=20)
    assert await world.lag(20) == 900.0
    world.tell("depth", -5.0, seconds=30)
    assert await world.lag(30) == 0.0


async def test_a_lag_waits_for_a_source_that_was_not_measured() -> None:
    """It enters the next sample in which the source is."""
    world = World(signal(use=SignalUse.LAG))
    world.tell("depth", 700.0, seconds=0)
    world.engine.jobs[ORDERS] = replace(world.engine.jobs[ORDERS], vertices={})
    assert (await world.take()).vertices == {}
    assert await world.lag(10) == 700.0


async def test_a_lag_too_old_does_not_enter() -> None:
    """What the decision would not believe is not evaluated either."""
    world = World(signal(use=SignalUse.LAG))
    world.tell("depth", 700.0, seconds=0)
    assert await world.lag(121) is None


async def test_the_engines_own_lag_wins() -> None:
    """From its first word on, also where it is silent now and then: two origins make no trend."""
    world = World(signal(use=SignalUse.LAG))
    world.tell("depth", 700.0, seconds=0)
    assert await world.lag(0) == 700.0
    world.tell("depth", 800.0, seconds=10)
    assert await world.lag(10, engines=5.0) == 5.0
    world.tell("depth", 900.0, seconds=20)
    assert await world.lag(20) is None


async def test_a_lag_may_replace_the_engines() -> None:
    """Where the operator knows that the connector is wrong; then the connector's never counts."""
    world = World(signal(use=SignalUse.LAG, over_engine=True))
    world.tell("depth", 700.0, seconds=0)
    assert await world.lag(0, engines=5.0) == 700.0
    world.there.fault = UnreachableError("there is down")
    assert await world.lag(10, engines=6.0) is None


async def test_everything_else_is_the_collectors() -> None:
    """Topology and the engine's own metrics."""
    world = World(signal())
    assert await world.collector.query_topology(world.ctx) == world.engine.jobs[ORDERS].topology
    assert await world.collector.query_jm_metrics(world.ctx) == {}
    assert await world.collector.query_tm_metrics(world.ctx) == {}


@pytest.mark.parametrize("fault", [UnreachableError("token hush-hush"), RuntimeError("token hush-hush"), None])
async def test_a_source_of_others_is_told_of_without_its_secrets(fault: Exception | None) -> None:
    """Whether it raises or says why there is no value."""
    world = World(SignalOptions(name="queue", source="there"))
    source = FakeSource(known={"queue": Missing(why="token hush-hush")}, fault=fault)
    plugin = Plugin(name="queues", distribution="strangers", port=source, secrets=("hush-hush",))
    collector = WithSignals(
        world.engine,
        {"there": DiscreetSource(plugin=plugin)},
        events=world.events,
        time_limit=timedelta(seconds=5),
    )
    await collector.update_metrics(world.ctx, at(0))
    (event,) = world.events.told
    assert event.message.endswith("token ***")
