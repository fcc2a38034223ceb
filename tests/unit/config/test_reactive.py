"""Reactive mode in the configuration: under the seed's key, under Flink's own, and the workers of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import pytest

from headgate.config import JobSettings, for_job, load
from headgate.config.jobs import ours
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.options.reactive import ExecutionMode
from headgate.options.service import ServiceOptions

CLUSTERS = "[{name: local, url: 'http://127.0.0.1:8081', workers.provider: %s, workers.max: 3}]"
KEY = JobKey("local", "orders")
STRONGEST_FIRST = ("job.autoscaler.execution-mode", "execution-mode", "scheduler-mode")


def mode(own: Mapping[str, str], service: ServiceOptions | None = None, key: JobKey = KEY) -> ExecutionMode | None:
    """Give the mode of a job with this configuration."""
    return for_job(service or loaded(), key, own).options.execution_mode


def loaded(provider: str = "null", **rest: str) -> ServiceOptions:
    """Load a configuration of one cluster, underscores for dashes."""
    flags = {key.replace("_", "-"): text for key, text in rest.items()}
    return load(None, {"HEADGATE_CLUSTERS": CLUSTERS % provider}, flags).options


@pytest.mark.parametrize("key", ["execution-mode", "scheduler-mode", "job.autoscaler.execution-mode"])
@pytest.mark.parametrize("mode", ["reactive", "REACTIVE"])
def test_a_job_is_reactive_by_its_own_configuration(key: str, mode: str) -> None:
    """Flink reads its own key in any case, and so does Headgate."""
    settings = for_job(loaded(), KEY, {key: mode, "jobmanager.scheduler": "adaptive"})
    assert settings.options.execution_mode is ExecutionMode.REACTIVE
    assert settings.told == ()


def test_all_jobs_are_reactive_by_the_operators_configuration() -> None:
    """Under either key at the top, and below the prefix."""
    for found in (loaded(execution_mode="reactive"), loaded(scheduler_mode="reactive")):
        assert found.autoscaler.execution_mode is ExecutionMode.REACTIVE


@pytest.mark.parametrize(("stronger", "weaker"), [*combinations(STRONGEST_FIRST, 2)])
def test_the_key_that_is_more_headgates_own_wins(stronger: str, weaker: str) -> None:
    """Whoever runs a cluster in reactive mode may want a job to be looked after as any other."""
    own = {weaker: "reactive", stronger: "none"}
    assert mode(own) is ExecutionMode.NONE
    assert mode(dict(reversed(own.items()))) is ExecutionMode.NONE


def test_the_operators_mode_for_a_job_wins_over_the_clusters() -> None:
    """Which says something of all jobs, not of this one; what the job itself says is stronger still."""
    exempt = loaded(jobs="[{match: local/orders, job.autoscaler.execution-mode: none}]")
    others = JobKey("local", "payments")
    assert mode({"scheduler-mode": "reactive"}, exempt) is ExecutionMode.NONE
    assert mode({"scheduler-mode": "reactive"}, exempt, others) is ExecutionMode.REACTIVE
    assert mode({"execution-mode": "reactive"}, exempt) is ExecutionMode.REACTIVE


def test_another_mode_is_a_fault() -> None:
    """With those that there are."""
    key = "job.autoscaler.execution-mode"
    (fault,) = for_job(loaded(), KEY, {key: "eager"}).faults
    assert fault.endswith(f"{key}: found 'eager', expected one of none, reactive")


@pytest.mark.parametrize("key", ["execution-mode", "scheduler-mode"])
@pytest.mark.parametrize("text", ["STREAMING", "BATCH", "automatic", "", " "])
def test_a_programs_parameter_of_that_name_is_its_own(key: str, text: str) -> None:
    """Flink's examples take an `--execution-mode`, which comes with the job's global parameters."""
    service = loaded()
    assert for_job(service, KEY, {key: text}) == JobSettings(options=service.autoscaler)
    assert ours({key: text}) == {}


def test_an_unknown_provider_is_a_fault_at_its_place() -> None:
    """Before anything is started."""
    with pytest.raises(
        ConfigError, match=r"workers\.provider: found 'mine', but no resource provider 'mine' is registered"
    ):
        loaded("mine")


def test_a_registered_provider_is_none() -> None:
    """Its parameters are held against it when it is made."""
    assert loaded("command").clusters[0].workers.provider == "command"


TWINS = {
    "headgate.plugins.one.class": "local-processes",
    "headgate.plugins.one.directory": "/here",
    "headgate.plugins.two.class": "local-processes",
    "headgate.plugins.two.directory": "/here",
}


def shared(*providers: str, **flags: str) -> ServiceOptions:
    """Load clusters `a` and `b` with these providers."""
    clusters = [
        f"{{name: {name}, url: 'http://{name}', workers.provider: {of}}}"
        for name, of in zip("ab", providers, strict=True)
    ]
    return load(None, {"HEADGATE_CLUSTERS": f"[{', '.join(clusters)}]"}, flags).options


def test_two_clusters_may_not_share_a_provider() -> None:
    """Each would undo the other's number of workers, under whatever name the same ones go."""
    with pytest.raises(ConfigError) as caught:
        shared("one", "one", **TWINS)
    (fault,) = caught.value.faults
    assert "clusters[1].workers.provider: found 'one', but its workers are those of cluster a already" in fault
    assert "with which b would be at odds" in fault
    with pytest.raises(ConfigError, match="found 'two', but its workers are those of cluster a already"):
        shared("one", "two", **TWINS)


def test_two_clusters_may_have_providers_of_one_kind() -> None:
    """Over workers of their own."""
    different = {**TWINS, "headgate.plugins.two.directory": "/other"}
    assert [cluster.workers.provider for cluster in shared("one", "two", **different).clusters] == ["one", "two"]
