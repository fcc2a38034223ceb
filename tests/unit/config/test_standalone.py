"""The keys of the reference's standalone process are taken over as far as Headgate has the like."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.config import load
from headgate.errors import ConfigError

Write = Callable[..., Path]

CLUSTER = "clusters: [{name: local, url: http://127.0.0.1:8081}]\n"


def test_a_file_of_the_standalone_process_is_enough(write: Write) -> None:
    """Each key is told with what replaces it."""
    path = write(
        """\
        autoscaler.standalone:
          control-loop.interval: 20 s
          control-loop.parallelism: 100
          fetcher.flink-cluster: {host: flink, port: 8082}
          state-store.type: MEMORY
          event-handler.type: LOGGING
        job.autoscaler.utilization.target: 0.8
        """
    )
    loaded = load(path, {}, {})
    assert loaded.options.decide_interval == timedelta(seconds=20)
    assert [(cluster.name, cluster.url) for cluster in loaded.options.clusters] == [("default", "http://flink:8082")]
    assert loaded.options.state_store == "memory"
    assert [warning.split(": ")[0] for warning in loaded.warnings] == [
        f"headgate.yaml:{line}" for line in (2, 3, 4, 4, 5, 6)
    ]
    assert loaded.warnings[0].endswith("an old name. Hint: write decide.interval")


def test_headgates_own_keys_win_wherever_they_stand(write: Write) -> None:
    """Even a weaker source's."""
    path = write(CLUSTER + "decide.interval: 5 s\nstate-store: sqlite:///a.db\n")
    flags = {f"autoscaler.standalone.{key}": text for key, text in OLD.items()}
    options = load(path, {}, flags).options
    assert options.decide_interval == timedelta(seconds=5)
    assert [cluster.name for cluster in options.clusters] == ["local"]
    assert options.state_store == "sqlite:///a.db"


OLD = {"scalingInterval": "20 s", "flinkClusterHost": "flink", "state-store.type": "MEMORY"}


def test_its_own_old_names_are_read_too(write: Write) -> None:
    """A host alone has the usual port, a port alone the own machine."""
    options = load(
        write("autoscaler.standalone.scalingInterval: 20 s\nautoscaler.standalone.flinkClusterPort: 1\n"), {}, {}
    )
    assert options.options.decide_interval == timedelta(seconds=20)
    assert options.options.clusters[0].url == "http://localhost:1"


@pytest.mark.parametrize(
    ("more", "url"),
    [
        ("jdbc.url: jdbc:postgresql://db:5432/flink", "postgresql://db:5432/flink"),
        ("jdbc.url: jdbc:mysql://db/flink?useSSL=true\n  jdbc.username: ada", "mysql://ada:${env:JDBC_PWD}@db/flink"),
        (
            "jdbc.url: jdbc:postgresql://db/flink\n  jdbc.username: ada\n  jdbc.password-env-variable: PW",
            "postgresql://ada:${env:PW}@db/flink",
        ),
    ],
)
def test_a_jdbc_address_becomes_a_state_store(write: Write, more: str, url: str) -> None:
    """The password stays in its variable."""
    path = write(f"{CLUSTER}autoscaler.standalone:\n  state-store.type: jdbc\n  {more}\n")
    assert load(path, {}, {}).options.state_store == url


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("state-store.type: JDBC", "found JDBC, but autoscaler.standalone.jdbc.url is not set"),
        ("state-store.type: REDIS", "found 'REDIS', expected one of MEMORY, JDBC"),
        ("event-handler.type: JDBC", "found JDBC, but autoscaler.standalone.jdbc.url is not set"),
        ("event-handler.type: KAFKA", "found 'KAFKA', expected one of LOGGING, JDBC"),
        ("no.such.key: 1", "unknown option"),
    ],
)
def test_what_has_no_counterpart_is_told(write: Write, text: str, said: str) -> None:
    """Rather than to run without it."""
    with pytest.raises(ConfigError) as raised:
        load(write(f"{CLUSTER}autoscaler.standalone.{text}\n"), {}, {})
    (fault,) = raised.value.faults
    assert said in fault


def test_an_address_of_another_database_is_refused_without_showing_it(write: Write) -> None:
    """It may hold a password."""
    path = write(
        CLUSTER + "autoscaler.standalone: {state-store.type: JDBC, jdbc.url: 'jdbc:derby:x;password=planted-secret'}\n"
    )
    with pytest.raises(ConfigError, match="not supported, expected jdbc:postgresql") as raised:
        load(path, {}, {})
    assert "planted-secret" not in str(raised.value)


@pytest.mark.parametrize(("ttl", "days"), [("30 d", 30), ("0", 3650)])
def test_a_database_of_events_becomes_a_table_of_events(write: Write, ttl: str, days: int) -> None:
    """With the state store's address, and the same bound of age; 0 was none, and becomes the longest there is."""
    path = write(
        CLUSTER
        + "autoscaler.standalone: {event-handler.type: JDBC, jdbc.url: 'jdbc:mysql://db/flink', "
        + f"jdbc.event-handler.ttl: {ttl}}}\n"
    )
    events = load(path, {}, {}).options.events
    assert (events.handlers, events.sql.url) == (("sql",), "mysql://db/flink")
    assert events.retention == timedelta(days=days)
