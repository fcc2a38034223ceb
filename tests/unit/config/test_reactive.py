"""Reactive mode in the configuration: under the seed's key, under Flink's own, and the workers of a cluster."""

from __future__ import annotations

import pytest

from headgate.config import for_job, load
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.options.reactive import ExecutionMode
from headgate.options.service import ServiceOptions

CLUSTERS = "[{name: local, url: 'http://127.0.0.1:8081', workers.provider: %s, workers.max: 3}]"
KEY = JobKey("local", "orders")


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


def test_the_seeds_key_wins_over_the_engines() -> None:
    """Whoever runs a cluster in reactive mode may want a job to be looked after as any other."""
    own = {"scheduler-mode": "reactive", "execution-mode": "none"}
    assert for_job(loaded(), KEY, own).options.execution_mode is ExecutionMode.NONE
    assert for_job(loaded(), KEY, dict(reversed(own.items()))).options.execution_mode is ExecutionMode.NONE


def test_another_mode_is_a_fault() -> None:
    """With those that there are."""
    assert "execution-mode" in for_job(loaded(), KEY, {"execution-mode": "eager"}).faults[0]


def test_an_unknown_provider_is_a_fault_at_its_place() -> None:
    """Before anything is started."""
    with pytest.raises(
        ConfigError, match=r"workers\.provider: found 'mine', but no resource provider 'mine' is registered"
    ):
        loaded("mine")


def test_a_registered_provider_is_none() -> None:
    """Its parameters are held against it when it is made."""
    assert loaded("command").clusters[0].workers.provider == "command"
