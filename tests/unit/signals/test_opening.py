"""Sources are made by their type: ours here, others by whoever registered them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from headgate.errors import ConfigError
from headgate.model.samples import Signal
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import JobContext, SignalSource
from headgate.signals.http import HttpSource
from headgate.signals.kafka import KafkaSource
from headgate.signals.opening import BUILT_IN, close_sources, open_sources
from headgate.signals.prometheus import PrometheusSource
from headgate.signals.sql import SqlSource
from headgate.testing.builders import at, context


class Theirs:
    """Somebody's source, which knows its parameters."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """Keep them."""
        self.parameters = parameters

    async def query(self, _: JobContext, signals: Sequence[str], /) -> Mapping[str, Signal]:
        """Answer with the length of each query."""
        lengths = {name: len(self.parameters[f"query.{name}"]) for name in signals}
        return {name: Signal(value=length, measured_at=at(0)) for name, length in lengths.items()}


def source(name: str, kind: str, **others: object) -> SignalSourceOptions:
    """Declare a source."""
    return SignalSourceOptions(name=name, type=kind, url="there", **others)  # type: ignore[arg-type]


async def test_each_type_has_its_class() -> None:
    """Nothing is asked when it is made, nor must it be there."""
    made = open_sources([source(kind, kind) for kind in BUILT_IN], [])
    kinds = {name: type(one) for name, one in made.items()}
    assert kinds == {"prometheus": PrometheusSource, "http": HttpSource, "sql": SqlSource, "kafka": KafkaSource}
    await close_sources(made)


async def test_somebody_elses_source_is_made_with_its_settings_and_queries() -> None:
    """Only those of the signals that are read from it."""
    made: dict[str, Theirs] = {}

    def make(kind: str, parameters: Mapping[str, str]) -> SignalSource:
        made[kind] = Theirs(parameters)
        return made[kind]

    signals = [
        SignalOptions(name="ours", source="queue", query="abc"),
        SignalOptions(name="other", source="elsewhere", query="x"),
    ]
    sources = open_sources([source("queue", "rabbit", settings={"vhost": "/"})], signals, make)
    assert made["rabbit"].parameters == {"vhost": "/", "url": "there", "query.ours": "abc"}
    found = await sources["queue"].query(context(), ["ours"])
    assert found == {"ours": Signal(value=3, measured_at=at(0))}
    await close_sources(sources)


def test_types_that_nobody_knows_are_told_together() -> None:
    """With those that there are."""
    with pytest.raises(ConfigError) as raised:
        open_sources([source("a", "rabbit"), source("b", "http"), source("c", "carrier-pigeon")], [])
    assert raised.value.faults == (
        "type 'rabbit' of signal source a is unknown. Hint: one of http, kafka, prometheus, sql",
        "type 'carrier-pigeon' of signal source c is unknown. Hint: one of http, kafka, prometheus, sql",
    )
