"""Names of plugins in the configuration: of the operator, and of a job."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headgate.config import for_job, load, unmakeable
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ServiceOptions
from headgate.testing.distributions import write_distribution

CLUSTERS = {"HEADGATE_CLUSTERS": "[{name: local, url: 'http://127.0.0.1:8081'}]"}
KEY = JobKey("local", "orders")
CODE = """
class Stepping:
    def __init__(self, parameters):
        self.step = int(parameters["step"])

    def evaluate(self, conf, collected, restart_time):
        raise NotImplementedError

    def override(self, conf, question):
        return {}
"""
POINTS = {"headgate.metric_evaluators": {"steps": "Stepping"}, "headgate.evaluator_plugins": {"steps": "Stepping"}}
NAMES = {
    "metrics.collector.class": "metric collector",
    "metric.evaluator.class": "metric evaluator",
    "scaling.realizer.class": "scaling realizer",
    "metrics.custom-evaluators": "evaluator plugin",
    "scaling.custom-executors": "decision plugin",
    "rollback.checkers": "unrecoverable error checker",
    "reactive.policy": "scaling policy",
}


@pytest.fixture(autouse=True)
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution of plugins."""
    write_distribution(tmp_path, "strangers", POINTS, CODE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def loaded(**flags: str) -> ServiceOptions:
    """Load a configuration with these keys, underscores for dots."""
    return load(None, CLUSTERS, {key.replace("_", "."): text for key, text in flags.items()}).options


@pytest.mark.parametrize(("key", "noun"), NAMES.items())
def test_an_unknown_name_is_a_fault_with_those_that_are_known(key: str, noun: str) -> None:
    """With everything else that is wrong."""
    flags = {f"job.autoscaler.{key}": "mine", "job.autoscaler.utilization.target": "7"}
    with pytest.raises(ConfigError) as caught:
        load(None, CLUSTERS, flags)
    assert len(caught.value.faults) == 2
    assert f"job.autoscaler.{key}: found 'mine', but no {noun} 'mine' is registered or declared" in str(caught.value)


def test_an_instance_of_something_unknown_is_a_fault_at_its_place() -> None:
    """Also one that nobody names."""
    with pytest.raises(ConfigError) as caught:
        load(None, CLUSTERS, {"headgate.plugins.mine.class": "com.example.Mine", "headgate.plugins.yours.step": "1"})
    first, second = caught.value.faults
    assert "headgate.plugins.mine.class: no plugin of any kind 'com.example.Mine' is registered" in first
    assert "headgate.plugins.yours.step: instance 'yours' has no class" in second


def test_entries_of_jobs_are_looked_at_too() -> None:
    """With the place in the list."""
    jobs = "[{match: x, job.autoscaler.metric.evaluator.class: mine}]"
    with pytest.raises(ConfigError, match="found 'mine', but no metric evaluator 'mine' is registered or declared"):
        load(None, {**CLUSTERS, "HEADGATE_JOBS": jobs}, {})


def test_a_job_that_is_not_looked_after_may_name_what_it_likes() -> None:
    """As with its other options."""
    assert not loaded(job_autoscaler_enabled="false", job_autoscaler_rollback_checkers="mine").autoscaler.enabled


def test_registered_plugins_and_instances_may_be_named() -> None:
    """In whatever table they are declared."""
    flags = {
        "job.autoscaler.metric.evaluator.class": "mine",
        "headgate.plugins.mine.class": "steps",
        "headgate.plugins.mine.step": "2",
        "job.autoscaler.metrics.custom-evaluators": "his;steps;mine",
        "job.autoscaler.metrics.custom-evaluator.his.class": "steps",
    }
    options = load(None, CLUSTERS, flags).options
    assert (options.autoscaler.evaluator, options.autoscaler.custom_evaluators) == ("mine", ("his", "steps", "mine"))
    assert options.plugin_instances == {"mine.class": "steps", "mine.step": "2"}


def test_an_alignment_mode_that_is_there_is_no_warning(tmp_path: Path) -> None:
    """Unlike one that is not, for which the built-in one stands in."""
    key = "job.autoscaler.scaling.parallelism-alignment.mode"
    assert not load(None, CLUSTERS, {key: "mine", f"{key}.mine.class": "OFF"}).warnings
    (warning,) = load(None, CLUSTERS, {key: "yours", f"{key}.mine.class": "OFF"}).warnings
    assert "which is none of BALANCED, EVENLY_SPREAD, OFF, WAVES, mine: BALANCED holds" in warning
    assert tmp_path.exists()


def test_a_constructors_refusal_is_a_fault_at_the_place_of_its_class(tmp_path: Path) -> None:
    """Found by making each declared instance once, in its worker process."""
    file = tmp_path / "headgate.yaml"
    file.write_text(
        "clusters: [{name: local, url: 'http://127.0.0.1:8081'}]\n"
        "headgate.plugins.good: {class: steps, step: 2}\n"
        "headgate.plugins.bad:\n"
        "  step: many\n"
        "  class: steps\n",
        encoding="utf-8",
    )
    known = load(file, {}, {})
    faults = unmakeable(known.options, known.origins)
    assert faults
    assert all(fault.startswith(f"{file}:5: headgate.plugins.bad: plugin bad of strangers ") for fault in faults)
    assert all("ValueError: invalid literal for int() with base 10: 'many'" in fault for fault in faults)


SERVICE = {"headgate.plugins.mine.class": "steps", "headgate.plugins.mine.step": "2"}


def own(**settings: str) -> tuple[AutoscalerOptions, tuple[str, ...], tuple[str, ...]]:
    """Give what becomes of a job's own configuration: options, faults, warnings."""
    service = load(None, CLUSTERS, SERVICE).options
    told = for_job(service, KEY, {key.replace("_", "."): text for key, text in settings.items()})
    return told.options, told.faults, told.warnings


@pytest.mark.parametrize("name", ["mine", "steps"])
def test_a_job_may_name_what_is_registered_or_declared(name: str) -> None:
    """By the names that the operator knows."""
    options, faults, _ = own(job_autoscaler_metric_evaluator_class=name)
    assert (options.evaluator, faults) == (name, ())


@pytest.mark.parametrize("name", ["strangers:Stepping", "strangers.Stepping", "os:system", "os.path", "./evil.py"])
@pytest.mark.parametrize("key", NAMES)
def test_a_job_may_not_name_classes_modules_or_files(key: str, name: str) -> None:
    """Not even of a plugin that is registered: none of its options holds, and it is only advised."""
    options, faults, _ = own(**{f"job.autoscaler.{key}": name, "job.autoscaler.utilization.target": "0.9"})
    assert len(faults) == 1
    assert f"found {name!r}, but no {NAMES[key]} {name!r} is registered or declared" in faults[0]
    assert (options.utilization_target, options.scaling_enabled) == (0.7, False)


@pytest.mark.parametrize(
    "key",
    [
        "headgate.plugins.mine.step",
        "headgate.plugins.evil.class",
        "job.autoscaler.metrics.custom-evaluator.evil.class",
        "job.autoscaler.scaling.custom-executor.evil.class",
        "job.autoscaler.scaling.parallelism-alignment.mode.evil.class",
    ],
)
def test_a_job_may_not_declare_instances_or_their_parameters(key: str) -> None:
    """They are the operator's; who writes them is told so, and what else it says holds."""
    options, faults, warnings = own(**{key: "steps", "job.autoscaler.utilization.target": "0.9"})
    assert (options.utilization_target, faults) == (0.9, ())
    (warning,) = warnings
    assert warning.startswith(f"the job's configuration: {key}: ignored, a job may not set it. ")


def test_a_job_may_not_name_what_it_declares_itself() -> None:
    """Naming it does not make its declaration count."""
    key = "job.autoscaler.metrics.custom-evaluator.evil.class"
    _, faults, _ = own(**{key: "steps", "job.autoscaler.metrics.custom-evaluators": "evil"})
    assert len(faults) == 1
    assert "found 'evil', but no evaluator plugin 'evil' is registered or declared" in faults[0]
