"""What a resource says, as its owner and the operator wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from headgate.engines.kubernetes.paths import Managed
from headgate.engines.kubernetes.resources import (
    FlinkResource,
    Plural,
    joined,
    placed,
    read_overrides,
    read_resource,
    write_overrides,
)
from headgate.options.kubernetes import Upgrades
from headgate.testing.fake_operator import upgrading

DONE = {
    "jobManagerDeploymentStatus": "READY",
    "jobStatus": {"jobId": "a" * 32, "state": "RUNNING", "startTime": "1795255206280"},
    "lifecycleState": "STABLE",
    "reconciliationStatus": {"state": "DEPLOYED"},
}
"""As version 1.7.0 of the operator was seen to write it, which does not tell the generation that it has seen."""


def resource(spec: Mapping[str, Any] | None = None, **status: Any) -> FlinkResource:
    """Give a FlinkDeployment in its second generation."""
    metadata = {"namespace": "flink", "name": "orders", "resourceVersion": "383", "generation": 2}
    return read_resource(Plural.DEPLOYMENT, {"metadata": metadata, "spec": spec or {}, "status": {**DONE, **status}})


def configured(**configuration: Any) -> FlinkResource:
    """Give one with a configuration, dots as underscores."""
    return resource({"flinkConfiguration": {key.replace("_", "."): value for key, value in configuration.items()}})


def test_a_configuration_may_be_nested() -> None:
    """Newer definitions allow that, and values that are no texts."""
    assert configured(rest={"port": 8082, "flamegraph": {"enabled": True}}, a_b="c").configuration == {
        "rest.port": "8082",
        "rest.flamegraph.enabled": "true",
        "a.b": "c",
    }
    assert (configured(rest={"port": 8082}).rest_port, resource().rest_port) == ("8082", "8081")


def test_a_key_is_changed_where_it_stands() -> None:
    """Written a second time it would stand there twice, with two values."""
    nested = {"pipeline": {"name": "orders"}, "rest.port": "1"}
    assert placed(nested, "pipeline.max", "2") == {"pipeline": {"max": "2"}}
    assert placed(nested, "rest.port", None) == {"rest.port": None}
    assert placed({}, "pipeline.max", "2") == {"pipeline.max": "2"}


def test_two_patches_are_joined_at_every_depth() -> None:
    """What takes a key away is kept as well."""
    one = {"a": {"b": {"c": 1}, "x": None}, "d": 1}
    other = {"a": {"b": {"e": 2}}, "d": 3}
    assert joined(one, other) == {"a": {"b": {"c": 1, "e": 2}, "x": None}, "d": 3}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("a:1,b:22", {"a": 1, "b": 22}),
        ("{a: 1, 'b': \"22\"}", {"a": 1, "b": 22}),
        ("a:two,b:22", {"b": 22}),
        ("notamap", {}),
    ],
)
def test_overrides_are_read_as_flink_may_write_them(text: str, expected: Mapping[str, int]) -> None:
    """What is no number is left out: the operator has not taken it either."""
    assert read_overrides(text) == expected
    assert read_overrides(write_overrides(read_overrides(text))) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, True),
        ({"observedGeneration": 2}, True),
        ({"observedGeneration": 1}, False),
        ({"lifecycleState": "DEPLOYED"}, False),
        ({"jobStatus": {"state": "RECONCILING"}}, False),
    ],
)
def test_the_operator_has_settled_when_everything_says_so(status: Mapping[str, Any], expected: bool) -> None:  # noqa: FBT001
    """The generation that it has seen counts where it is told."""
    assert resource(**status).is_settled is expected


@pytest.mark.parametrize(
    "status",
    [
        {"lifecycleState": "SUSPENDED"},
        {"lifecycleState": "ROLLING_BACK"},
        {"reconciliationStatus": {"state": "ROLLING_BACK"}},
        upgrading("suspended"),
    ],
)
def test_a_redeploy_shows(status: Mapping[str, Any]) -> None:
    """In what the operator says, or in what it says to have done."""
    assert resource(**status).is_redeploying


@pytest.mark.parametrize(
    "status",
    [
        {"lifecycleState": "DEPLOYED", "jobStatus": {"state": "CREATED"}},
        upgrading("running"),
        {"lifecycleState": "UPGRADING"},
        {"lifecycleState": "UPGRADING", "reconciliationStatus": {"lastReconciledSpec": "no JSON"}},
        {"lifecycleState": "UPGRADING", "reconciliationStatus": {"lastReconciledSpec": '{"spec": {"job": null}}'}},
    ],
)
def test_a_rescale_in_place_is_no_redeploy(status: Mapping[str, Any]) -> None:
    """Though its job is not running for a moment, and the operator's releases call it an upgrade."""
    assert not resource(**status).is_redeploying


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({}, False),
        ({"job_autoscaler_enabled": "true"}, True),
        ({"kubernetes_operator_job_autoscaler_enabled": True}, True),
        ({"job_autoscaler_enabled": "true", "job_autoscaler_scaling_enabled": "false"}, False),
        ({"job_autoscaler_enabled": "false", "job_autoscaler_scaling_enabled": "true"}, False),
    ],
)
def test_the_operators_own_autoscaler_is_seen(configuration: Mapping[str, Any], expected: bool) -> None:  # noqa: FBT001
    """Under either prefix; one that only advises does no harm."""
    assert configured(**configuration).has_autoscaler is expected


def test_its_switch_is_no_setting_of_headgates() -> None:
    """All else is."""
    own = configured(job_autoscaler_enabled="false", job_autoscaler_scaling_enabled="false")
    assert own.settings == {"job.autoscaler.scaling.enabled": "false"}


@pytest.mark.parametrize(
    ("told", "written", "expected"),
    [
        (True, "", ""),
        (True, "default", ""),
        (False, "adaptive", "its jobmanager.scheduler is not adaptive"),
        (None, "Adaptive", ""),
        (None, "", "its jobmanager.scheduler is not adaptive"),
    ],
)
def test_what_flink_says_of_its_scheduler_counts(told: bool | None, written: str, expected: str) -> None:  # noqa: FBT001
    """What is written counts only where Flink says nothing: the operator may have defaults of its own."""
    one = resource({"flinkVersion": "v1_20", "flinkConfiguration": {"jobmanager.scheduler": written}})
    assert Managed(resource=one, cluster=one).why_not_in_place(adaptive=told) == expected


@pytest.mark.parametrize(
    ("allowed", "mode", "is_open"),
    [
        (Upgrades.NEVER, "savepoint", False),
        (Upgrades.WITH_STATE, "savepoint", True),
        (Upgrades.WITH_STATE, "last-state", True),
        (Upgrades.WITH_STATE, "stateless", False),
        (Upgrades.WITH_STATE, None, False),
        (Upgrades.ALWAYS, "stateless", True),
    ],
)
def test_a_redeploy_takes_leave(allowed: Upgrades, mode: str | None, is_open: bool) -> None:  # noqa: FBT001
    """A job whose upgrade mode nobody has set is stateless."""
    one = resource({"job": {"upgradeMode": mode} if mode else {"state": "running"}})
    assert (Managed(resource=one, cluster=one).why_no_upgrade(allowed) == "") is is_open


@pytest.mark.parametrize(("version", "forgets"), [("v1_20", False), ("v2_0", True), ("v2_10", True), ("", False)])
def test_flink_2_forgets_the_overrides(version: str, forgets: bool) -> None:  # noqa: FBT001
    """When a job starts; an unknown version is taken for an older one that rescales in place."""
    one = resource({"flinkVersion": version} if version else {})
    assert Managed(resource=one, cluster=one).forgets_overrides is forgets
