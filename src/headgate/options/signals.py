"""External metrics as the operator declares them: where they come from, which jobs they are for, what they do."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.references import refuse_plain
from headgate.options.units import LARGEST, PositiveDuration

OF_COLLECTOR = "collector"
"""The source of a signal that the job's own collector gives, by `query_external_metrics`."""

_CONDITION = re.compile(r"\s*(?P<sign><=|>=|<|>)\s*(?P<bound>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NEEDED = {"prometheus": ("query",), "http": ("query",), "sql": ("query",), "kafka": ("group",)}
"""What a signal must say, by the type of its source."""


class SignalUse(StrEnum):
    """What a signal does without any code."""

    LAG = "lag"
    """It is the lag, in records, of a source whose connector reports none."""
    UPPER_LIMIT = "upper-limit"
    """Parallelism times `per-subtask` never grows above it."""
    GATE = "gate"
    """Changes are made only while it satisfies `condition`."""
    ADDED_RATE = "added-rate"
    """It is added to the records/s that come into a source."""


class GateScope(StrEnum):
    """What a gate holds back while it is closed."""

    GROWTH = "growth"
    ANY = "any"


class IfMissing(StrEnum):
    """What becomes of growth while a signal is missing or too old; nothing shrinks either way."""

    GROW = "grow"
    HOLD = "hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A comparison with a number, like `< 0.8`."""

    sign: str
    bound: float

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        return f"{self.sign} {self.bound:g}"

    @classmethod
    def parse(cls, text: str) -> Condition:
        """
        Read `<`, `<=`, `>` or `>=` and a number.

        Raises:
            ValueError: it reads otherwise.
        """
        match = _CONDITION.fullmatch(text)
        if match is None:
            message = f"condition {text!r} is none. Hint: write a comparison with a number, like '< 0.8'"
            raise ValueError(message)
        return cls(sign=match["sign"], bound=float(match["bound"]))

    def holds(self, value: float) -> bool:
        """Tell whether a value satisfies it."""
        return _SIGNS[self.sign](value, self.bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSourceOptions(Options):
    """
    A system that signals are read from. Secrets come as `${env:NAME}` or `${file:PATH}`.

    Raises:
        ValueError: the name is that of the job's collector, or a password or token is written plainly.
    """

    name: str = option("name")
    """How signals refer to it."""

    type: str = option("type")
    """`prometheus`, `http`, `sql`, `kafka`, or a registered one."""

    url: str = option("url", "", secret=True)
    """Address: of Prometheus, of the HTTP service, of the database; for Kafka its brokers, `host:port,host:port`."""

    token: str = option("token", "", secret=True)
    """Bearer token, a reference to a secret, read again at each call so that it may rotate."""

    username: str = option("username", "")
    """Name for basic authentication, or for Kafka's SASL."""

    password: str = option("password", "", secret=True)
    """Password that goes with it, a reference to a secret."""

    ca_file: Path | None = option("ca-file", None)
    """Certificates to trust, PEM; unset: the system's."""

    headers: Mapping[str, str] = option("headers", default_factory=dict, secret=True)
    """Headers added to each request; their values are secrets."""

    settings: Mapping[str, str] = option("settings", default_factory=dict, secret=True)
    """Further settings by the system's own names, such as Kafka's `security.protocol`; their values are secrets."""

    refresh: PositiveDuration = option("refresh", timedelta(seconds=10))
    """How often the same thing is asked anew; in between, its last answer holds."""

    timeout: PositiveDuration = option("timeout", timedelta(seconds=5))
    """Time limit of one call."""

    max_calls_in_flight: Annotated[int, Interval(ge=1)] = option("max-calls-in-flight", 4)
    """Calls to this system that may be open at once."""

    def __post_init__(self) -> None:
        """Refuse what would show a secret, or could not be referred to."""
        if not self.name or self.name == OF_COLLECTOR:
            message = f"name {self.name!r} cannot be that of a signal source. Hint: {OF_COLLECTOR} is the job's own"
            raise ValueError(message)
        refuse_plain(f"signal source {self.name}", token=self.token, password=self.password)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalOptions(Options):
    """
    One external metric under a name: what is asked, which jobs it is for, and what it does.

    Raises:
        ValueError: something that its use needs is not said; a line each.
    """

    name: str = option("name")
    """How jobs, evaluators and explanations call it."""

    source: str = option("source")
    """Name of an entry of `signal-sources`; `collector`: the job's own collector gives it by this name."""

    match: str | None = option("match", None)
    """The jobs it is for, a job key `cluster/job`, `*` and `?` allowed; unset: those that name it themselves."""

    vertex: str | None = option("vertex", None)
    """Id of the vertex that it is about, or a pattern of its name; unset: the whole job, or its only source."""

    query: str | None = option("query", None)
    """What is asked: PromQL, SQL, or for `http` the JSONPath of the value in the answer."""

    path: str = option("path", "", secret=True)
    """For `http`: what follows the source's address."""

    timestamp: str | None = option("timestamp", None)
    """For `http`: the JSONPath of the time of the value, as epoch seconds, epoch milliseconds or ISO 8601."""

    group: str | None = option("group", None)
    """For `kafka`: the consumer group."""

    topics: tuple[str, ...] = option("topics", ())
    """For `kafka`: the topics, whose lags are added up; empty: all that the group has committed offsets of."""

    max_age: PositiveDuration = option("max-age", timedelta(minutes=2))
    """Age from which the value counts as missing."""

    unit: str = option("unit", "")
    """What is counted, for people."""

    use: SignalUse | None = option("use", None)
    """What it does; unset: nothing by itself, evaluators and plugins see it, and `headgate explain` shows it."""

    per_subtask: Annotated[float, Interval(gt=0, le=LARGEST)] = option("per-subtask", 1.0)
    """For `upper-limit`: how much of it one subtask takes."""

    condition: str | None = option("condition", None)
    """For `gate`: the comparison that must hold, like `< 0.8`."""

    gates: GateScope = option("gates", GateScope.GROWTH)
    """For `gate`: whether growth alone or any change waits for the condition."""

    over_engine: bool = option("over-engine", default=False)
    """For `lag`: whether it replaces a lag that the connector does report."""

    if_missing: IfMissing = option("if-missing", IfMissing.GROW)
    """Whether a job whose signal is missing may still grow; it never shrinks then, if the signal has a use."""

    def __post_init__(self) -> None:
        """Hold the parts together."""
        faults = tuple(self._faults())
        if faults:
            raise ValueError("\n".join(faults))

    def _faults(self) -> Iterator[str]:
        if not self.name:
            yield "name of a signal must not be empty"
        if self.use is SignalUse.GATE and self.condition is None:
            yield f"condition of signal {self.name} is missing. Hint: a gate needs one, like '< 0.8'"
        if self.condition is not None:
            try:
                Condition.parse(self.condition)
            except ValueError as error:
                yield f"{error}"

    @property
    def gate(self) -> Condition | None:
        """The condition, if it is a gate."""
        return None if self.use is not SignalUse.GATE or self.condition is None else Condition.parse(self.condition)


def faults_of(
    sources: Sequence[SignalSourceOptions], signals: Sequence[SignalOptions], named: Collection[str] = ()
) -> Iterator[str]:
    """Name what is wrong with declarations that are well-formed each for itself, and with the names that jobs give."""
    types = {source.name: source.type for source in sources}
    yield from _twice("signal-sources", [source.name for source in sources])
    yield from _twice("signals", [signal.name for signal in signals])
    yield from (undeclared(name, signals) for name in sorted(set(named) - {signal.name for signal in signals}))
    for signal in signals:
        if signal.source not in {OF_COLLECTOR, *types}:
            known = ", ".join([OF_COLLECTOR, *types])
            yield f"source {signal.source!r} of signal {signal.name} is not declared. Hint: one of {known}"
        for key in _NEEDED.get(types.get(signal.source, ""), ()):
            if not getattr(signal, key):
                yield f"{key} of signal {signal.name} is missing, {types[signal.source]} needs it"


def undeclared(name: str, signals: Sequence[SignalOptions]) -> str:
    """Say that a job names a signal that nobody declared."""
    known = ", ".join(sorted(signal.name for signal in signals)) or "there is none"
    return f"found signal {name!r}, which is not declared in Headgate's own configuration. Hint: one of {known}"


def _twice(section: str, names: Sequence[str]) -> Iterator[str]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"the name {name} stands twice in {section}"
