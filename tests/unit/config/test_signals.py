"""Declared signals: read from a file, given to the jobs that they are for, refused where they cannot work."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.config import describe, for_job, load
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.options.signals import (
    Condition,
    GateScope,
    IfMissing,
    SignalOptions,
    SignalSourceOptions,
    SignalUse,
)

FILE = """\
clusters: [{name: prod, url: 'http://127.0.0.1:8081'}]
signal-sources:
  - name: prom
    type: prometheus
    url: http://prometheus:9090
    token: ${env:PROM_TOKEN}
    refresh: 30 s
  - name: brokers
    type: kafka
    url: b1:9092,b2:9092
    settings:
      security.protocol: SASL_SSL
      sasl.mechanism: SCRAM-SHA-512
signals:
  - name: db-connections
    source: prom
    match: prod/*
    query: max(pg_settings_max_connections) - 50
    use: upper-limit
    vertex: "Sink*"
    per-subtask: 2
    unit: connections
  - name: cpu
    source: prom
    query: avg(node_cpu)
    use: gate
    condition: "< 0.8"
    gates: any
    if-missing: hold
    max-age: 5 min
  - {name: backlog, source: brokers, group: "${job}", topics: [in, late], use: lag, over-engine: true}
"""
CLUSTERS = (ClusterOptions(name="prod", url="http://127.0.0.1:8081"),)
PROM = SignalSourceOptions(name="prom", type="prometheus", url="http://p")
ORDERS = JobKey("prod", "orders")


def signal(name: str, match: str | None = None, **others: object) -> SignalOptions:
    """Declare a signal of that Prometheus."""
    return SignalOptions(name=name, source="prom", match=match, query="1", **others)  # type: ignore[arg-type]


def service(*signals: SignalOptions, **others: object) -> ServiceOptions:
    """Make a configuration with these signals."""
    return ServiceOptions(clusters=CLUSTERS, signal_sources=(PROM,), signals=signals, **others)  # type: ignore[arg-type]


def names(options: AutoscalerOptions) -> list[str]:
    """Give the signals in force."""
    return [each.name for each in options.signals_in_force]


def test_signals_are_read_from_a_file(tmp_path: Path) -> None:
    """With all that may be said of a source, and of what a signal does."""
    file = tmp_path / "headgate.yaml"
    file.write_text(FILE)
    options = load(file, {}, {}).options
    assert options.signal_sources[0].refresh == timedelta(seconds=30)
    assert options.signal_sources[1].settings == {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512"}
    connections, cpu, backlog = options.signals
    assert (connections.use, connections.per_subtask, connections.vertex) == (SignalUse.UPPER_LIMIT, 2.0, "Sink*")
    assert (cpu.gate, cpu.gates, cpu.if_missing) == (Condition(sign="<", bound=0.8), GateScope.ANY, IfMissing.HOLD)
    assert (backlog.topics, backlog.use, backlog.over_engine) == (("in", "late"), SignalUse.LAG, True)


def test_the_example_of_the_documentation_is_right(tmp_path: Path) -> None:
    """What people copy is accepted, and every use stands in it."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "external-metrics.md").read_text()
    file = tmp_path / "headgate.yaml"
    file.write_text(page.partition("```yaml\n")[2].partition("```")[0])
    declared = load(file, {}, {}).options
    assert {signal.use for signal in declared.signals} == {None, *SignalUse}
    assert {source.type for source in declared.signal_sources} == {"prometheus", "http", "sql", "kafka"}


def test_no_secret_of_a_source_is_shown(tmp_path: Path) -> None:
    """References are shown as they are; passwords in addresses, headers and settings are masked."""
    file = tmp_path / "headgate.yaml"
    planted = FILE.replace("http://prometheus:9090", "http://me:planted-secret@prometheus:9090")
    file.write_text(planted.replace("SCRAM-SHA-512", "planted-secret"))
    shown = {each.key: each.value for each in describe(load(file, {}, {}))}
    assert shown["signal-sources[0].token"] == "${env:PROM_TOKEN}"
    assert shown["signal-sources[0].url"] == "http://***@prometheus:9090"
    assert "planted-secret" not in str(shown)


def test_a_job_has_the_signals_that_are_for_it_and_those_it_names() -> None:
    """In the order of their declarations; a bracket in a pattern stands for itself."""
    options = service(signal("all", "*"), signal("asked"), signal("others", "test/*"), signal("mine", "prod/ord*"))
    assert names(for_job(options, ORDERS).options) == ["all", "mine"]
    assert names(for_job(options, ORDERS, {"job.autoscaler.signals": "asked"}).options) == ["all", "asked", "mine"]
    assert names(for_job(options, JobKey("test", "x")).options) == ["all", "others"]


def test_without_signals_the_options_are_the_very_same() -> None:
    """Many jobs share them, and whatever is reckoned from them."""
    options = service(signal("asked"))
    assert for_job(options, ORDERS).options is options.autoscaler


def test_the_operator_may_name_signals_for_some_jobs() -> None:
    """As a job itself may."""
    options = service(signal("asked"), autoscaler=AutoscalerOptions(signals=("asked",)))
    assert names(for_job(options, ORDERS).options) == ["asked"]


def test_a_job_cannot_declare_a_signal_nor_get_rid_of_one() -> None:
    """What reaches a host is the operator's to say; so is what protects one."""
    options = service(signal("limit", "*"))
    own = {"signals": "[{name: mine, source: prom, query: up}]", "job.autoscaler.signals": ""}
    assert names(for_job(options, ORDERS, own).options) == ["limit"]
    sources = {"headgate.signal-sources": "[{name: evil, type: http, url: 'http://169.254.0.1'}]"}
    assert for_job(options, ORDERS, sources).options.signals_in_force == options.signals


def test_a_job_that_names_what_nobody_declared_is_only_advised() -> None:
    """Its owner may have meant to be held by it; the fault says which there are."""
    settings = for_job(service(signal("limit")), ORDERS, {"job.autoscaler.signals": "limit;limmit"})
    assert not settings.options.scaling_enabled
    (fault,) = settings.faults
    assert fault.startswith("the job's configuration: signals: found signal 'limmit', which is not declared in ")
    assert fault.endswith("Hint: one of limit")


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("name: a, source: nowhere", ["source 'nowhere' of signal a is not declared. Hint: one of collector, prom"]),
        ("name: a, source: prom", ["query of signal a is missing, prometheus needs it"]),
        ("name: a, source: prom, query: 1, use: gate", ["condition of signal a is missing. Hint: a gate needs one"]),
        ("name: a, source: prom, query: 1, condition: low", ["condition 'low' is none. Hint: write a comparison"]),
        ("name: a, source: prom, query: 1, use: lagg", ["expected one of lag, upper-limit, gate, added-rate"]),
        ("name: a, source: prom, query: 1, per-subtask: 0", ["expected a number, above 0"]),
        ("name: a, source: prom, query: 1, max-age: 5", ["expected a duration, above 0 s"]),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, text: str, faults: list[str]) -> None:
    """With what is wrong and what there is."""
    file = tmp_path / "headgate.yaml"
    sources = "signal-sources: [{name: prom, type: prometheus, url: 'http://p'}]"
    file.write_text(f"clusters: [{{name: prod, url: 'http://h'}}]\n{sources}\nsignals: [{{{text}}}]\n")
    with pytest.raises(ConfigError) as raised:
        load(file, {}, {})
    assert all(fault in str(raised.value) for fault in faults), raised.value


def test_names_stand_once_and_are_declared() -> None:
    """All that is wrong is told together."""
    with pytest.raises(ValueError, match="the name a stands twice in signals") as raised:
        service(signal("a"), signal("a"), autoscaler=AutoscalerOptions(signals=("b",)))
    assert "found signal 'b', which is not declared" in str(raised.value)


@pytest.mark.parametrize("key", ["token", "password"])
def test_a_secret_is_never_written_plainly(key: str) -> None:
    """Nor shown where it is refused."""
    with pytest.raises(ValueError, match=f"{key} of signal source p is written plainly") as raised:
        SignalSourceOptions(name="p", type="http", url="http://p", **{key: "planted-secret"})  # type: ignore[arg-type]
    assert "planted-secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [("< 0.8", 0.8, False), ("<=0.8", 0.8, True), (" > -1e3", -1000, False), (">= 1", 1, True)],
)
def test_conditions_compare(text: str, value: float, holds: bool) -> None:  # noqa: FBT001
    """By one of four signs."""
    assert Condition.parse(text).holds(value) is holds
    assert Condition.parse(str(Condition.parse(text))) == Condition.parse(text)
