"""From declared signal sources to sources: the built-in types here, others from whoever registered them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from headgate.errors import ConfigError
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import SignalSource
from headgate.signals.source import DeclaredSource

BUILT_IN: Mapping[str, str] = {
    "prometheus": "headgate.signals.prometheus:PrometheusSource",
    "http": "headgate.signals.http:HttpSource",
    "sql": "headgate.signals.sql:SqlSource",
    "kafka": "headgate.signals.kafka:KafkaSource",
}
"""What each type is; imported where one is declared, as each brings a library of its own."""
Make = Callable[[str, Mapping[str, str]], SignalSource]
"""Makes a registered source of somebody else's from its type and its parameters."""


def open_sources(
    sources: Sequence[SignalSourceOptions], signals: Sequence[SignalOptions], make: Make | None = None
) -> Mapping[str, SignalSource]:
    """
    Make the sources, by name; nothing is asked yet.

    Raises:
        ConfigError: a type is unknown, or its driver is not installed; all faults together.
    """
    faults, made = list[str](), dict[str, SignalSource]()
    for source in sources:
        declared = [signal for signal in signals if signal.source == source.name]
        try:
            made[source.name] = _source(source, declared, make)
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(faults)
    return made


async def close_sources(sources: Mapping[str, SignalSource]) -> None:
    """Close what was opened here; somebody else's sources are their own business."""
    for source in sources.values():
        if isinstance(source, DeclaredSource):
            await source.close()


def parameters_of(source: SignalSourceOptions, declared: Sequence[SignalOptions]) -> Mapping[str, str]:
    """Give what somebody else's source is made with: the settings, the address, and each signal's query."""
    own = {"url": source.url, "token": source.token, "username": source.username, "password": source.password}
    queries = {f"query.{signal.name}": signal.query for signal in declared if signal.query is not None}
    return {**source.settings, **{key: text for key, text in own.items() if text}, **queries}


def _source(source: SignalSourceOptions, declared: Sequence[SignalOptions], make: Make | None) -> SignalSource:
    if source.type in BUILT_IN:
        module, _, name = BUILT_IN[source.type].partition(":")
        made: SignalSource = getattr(import_module(module), name)(source, declared)
        return made
    if make is not None:
        return make(source.type, parameters_of(source, declared))
    known = ", ".join(sorted(BUILT_IN))
    message = f"type {source.type!r} of signal source {source.name} is unknown. Hint: one of {known}"
    raise ConfigError([message])
