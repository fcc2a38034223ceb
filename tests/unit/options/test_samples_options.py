"""Samples pass through Kafka between two processes: never in a circle, and never to nowhere."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headgate.config import load
from headgate.errors import ConfigError
from headgate.options.samples import SamplesOptions

CLUSTERS = {"HEADGATE_CLUSTERS": "[{name: local, url: 'http://127.0.0.1:8081'}]"}
BROKERS = {"samples.kafka.bootstrap-servers": "a:9092,b:9092"}


def samples(**flags: str) -> SamplesOptions:
    """Load options of the way of the samples, brokers included."""
    given = {f"samples.{key.replace('__', '.').replace('_', '-')}": text for key, text in flags.items()}
    return load(None, CLUSTERS, {**BROKERS, **given}).options.samples


def faults(flags: dict[str, str]) -> tuple[str, ...]:
    """Load options that are faulty."""
    with pytest.raises(ConfigError) as raised:
        load(None, CLUSTERS, flags)
    return raised.value.faults


def test_one_process_collects_and_decides_unless_told_otherwise() -> None:
    """Kafka need not even be named."""
    options = load(None, CLUSTERS, {}).options.samples
    assert not options.sent_away
    assert not options.received


def test_a_process_may_only_collect_or_only_decide() -> None:
    """Each says so with one word."""
    assert samples(to="kafka").sent_away
    assert samples(**{"from": "kafka"}).received


def test_the_topic_and_the_client_are_the_operators_to_name() -> None:
    """Settings of the client pass as they are written."""
    options = samples(to="kafka", kafka__topic="measured", kafka__time_limit="1 min", kafka__settings__acks="all")
    assert options.kafka.topic == "measured"
    assert options.kafka.time_limit == timedelta(minutes=1)
    assert options.kafka.settings == {"acks": "all"}


def test_samples_do_not_go_in_a_circle() -> None:
    """What comes from Kafka is not sent there; the missing brokers are named at the same time."""
    circle, nowhere = faults({"samples.from": "kafka", "samples.to": "kafka"})
    assert "cannot come from kafka and go to kafka" in circle
    assert "bootstrap-servers is needed" in nowhere


def test_receiving_needs_spark() -> None:
    """There is no other driver for it."""
    (fault,) = faults({**BROKERS, "samples.from": "kafka", "pipeline": "in-process"})
    assert "samples.from: kafka needs Spark" in fault
