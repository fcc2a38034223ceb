"""What `headgate config check` prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headgate.config import Described, describe, load, unresolvable

Write = Callable[..., Path]


def test_every_option_in_force_is_listed_with_its_origin(write: Write) -> None:
    """Defaults included; of a job's entry only what it sets itself."""
    path = write(
        """\
        clusters: [{name: local, url: http://127.0.0.1:8081}]
        job.autoscaler: {vertex.exclude.ids: a;b, scaling.enabled: no}
        jobs: [{match: x, autoscaler.restart.time: 90 s}]
        """
    )
    described = describe(load(path, {"HEADGATE_MODE": "act"}, {}))
    assert {
        Described("mode", "act", "environment HEADGATE_MODE"),
        Described("collect.interval", "10 s", "default"),
        Described("clusters[0].url", "http://127.0.0.1:8081", "headgate.yaml:1"),
        Described("clusters[0].ca-file", "unset", "default"),
        Described("job.autoscaler.vertex.exclude.ids", "a, b", "headgate.yaml:2"),
        Described("job.autoscaler.scaling.enabled", "false", "headgate.yaml:2"),
    } <= set(described)
    assert [each for each in described if each.key.startswith("jobs")] == [
        Described("jobs[0].match", "x", "headgate.yaml:3"),
        Described("jobs[0].autoscaler.restart.time", "90 s", "headgate.yaml:3"),
    ]


def test_secrets_are_masked_and_references_are_shown(write: Write) -> None:
    """Passwords in addresses, headers whatever they hold; a reference is no secret."""
    path = write(
        """
        clusters:
          - name: local
            url: https://user:planted-secret@host:8081/flink
            headers: {Authorization: Bearer planted-secret, X-Key: "${env:KEY}", X-Both: "a ${env:KEY}"}
        state-store: postgresql://u:planted/secret@host/db?password=planted-secret
        spark.settings: {spark.hadoop.fs.s3a.secret.key: planted-secret}
        signal-sources: [{name: there, type: http, url: "http://host"}]
        signals: [{name: queue, source: there, query: $.a, path: "/v1?key=planted-secret"}]
        """
    )
    described = {each.key: each.value for each in describe(load(path, {}, {}))}
    assert described["clusters[0].url"] == "https://***@host:8081/flink"
    assert described["clusters[0].headers.Authorization"] == "***"
    assert described["clusters[0].headers.X-Key"] == "${env:KEY}"
    assert described["clusters[0].headers.X-Both"] == "***"
    assert described["spark.settings.spark.hadoop.fs.s3a.secret.key"] == "***"
    assert described["signals[0].path"] == "/v1?***"
    assert "planted" not in str(described)


def test_references_that_cannot_be_resolved_are_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with its place; what can be resolved is not looked at further."""
    monkeypatch.setenv("HEADGATE_TEST_THERE", "planted-secret")
    monkeypatch.delenv("HEADGATE_TEST_ABSENT", raising=False)
    path = write(
        """\
        clusters:
          - name: local
            url: https://${env:HEADGATE_TEST_ABSENT}@host
            headers:
              A: ${env:HEADGATE_TEST_THERE}
              B: ${file:absent.token}
        state-store: ${env:HEADGATE_TEST_ABSENT}
        """
    )
    faults = unresolvable(load(path, {}, {}))
    assert [fault.split(": ")[:2] for fault in faults] == [
        ["headgate.yaml:3", "clusters[0].url"],
        ["headgate.yaml:6", "clusters[0].headers.B"],
        ["headgate.yaml:7", "state-store"],
    ]
    assert "planted-secret" not in str(faults)
