"""Declared Kafka clusters: read from a file, shown without secrets, refused where they could reach nobody."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.config import describe, load
from headgate.config.loading import Loaded
from headgate.errors import ConfigError

FILE = """\
clusters: [{name: prod, url: 'http://127.0.0.1:8081'}]
kafka-clusters:
  - name: main
    url: b1:9093,b2:9093
    match: prod/*
    username: headgate
    password: ${env:KAFKA_PASSWORD}
    settings: {security.protocol: SASL_SSL, sasl.mechanism: SCRAM-SHA-512}
"""


def _load(directory: Path, text: str) -> Loaded:
    path = directory / "headgate.yaml"
    path.write_text(text)
    return load(path, {}, {})


def test_a_cluster_is_read_from_a_file(tmp_path: Path) -> None:
    """What is not said has its default, and the secret stays a reference."""
    (cluster,) = _load(tmp_path, FILE).options.kafka_clusters

    assert (cluster.name, cluster.url, cluster.match) == ("main", "b1:9093,b2:9093", "prod/*")
    assert cluster.settings["sasl.mechanism"] == "SCRAM-SHA-512"
    assert (cluster.refresh, cluster.timeout) == (timedelta(milliseconds=500), timedelta(seconds=5))
    assert "SCRAM-SHA-512" not in str(describe(_load(tmp_path, FILE)))


@pytest.mark.parametrize(
    ("was", "becomes", "fault"),
    [
        ("${env:KAFKA_PASSWORD}", "tiger", "password of Kafka cluster main is written plainly"),
        ("url: b1:9093,b2:9093", "url: ''", "must not be empty"),
        ("clusters: [", "collect.on: spark\nclusters: [", "asked by the service alone"),
        ("kafka-clusters:", "kafka-clusters:\n  - {name: main, url: 'c:1'}", "main stands twice in kafka-clusters"),
        ("match: prod/*", "matches: prod/*", "matches"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, was: str, becomes: str, fault: str) -> None:
    """With what is wrong, and without the secret."""
    with pytest.raises(ConfigError) as refused:
        _load(tmp_path, FILE.replace(was, becomes, 1))

    assert fault in str(refused.value)
    assert "tiger" not in str(refused.value)


def test_what_the_how_to_shows_is_read(tmp_path: Path) -> None:
    """Its file, with a Flink cluster beside it."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "read-from-kafka.md"
    shown = page.read_text(encoding="utf-8").partition("```yaml\n")[2].partition("```")[0]
    (cluster,) = _load(
        tmp_path, "clusters: [{name: prod, url: 'http://127.0.0.1:8081'}]\n" + shown
    ).options.kafka_clusters

    assert (cluster.name, cluster.match, str(cluster.ca_file)) == ("main", "prod/*", "/etc/ssl/kafka.pem")
