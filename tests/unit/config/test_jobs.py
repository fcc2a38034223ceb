"""What a Flink job says of itself, over what the service says of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.config import JobSettings, for_job
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.options.reactive import ReactiveOptions
from headgate.options.rollback import RollbackOptions
from headgate.options.service import ClusterOptions, ServiceOptions

CLUSTERS = (ClusterOptions(name="local", url="http://127.0.0.1:8081"),)
SERVICE = ServiceOptions(clusters=CLUSTERS, autoscaler=AutoscalerOptions(utilization_target=0.6, max_parallelism=50))
KEY = JobKey("local", "orders")


def settings(service: ServiceOptions = SERVICE, **own: str) -> JobSettings:
    """Give the settings of a job with its own options, keys without prefix and with underscores for dots."""
    return for_job(service, KEY, {f"job.autoscaler.{key.replace('_', '.')}": text for key, text in own.items()})


@pytest.mark.parametrize("prefix", ["job.autoscaler.", "kubernetes.operator.job.autoscaler."])
def test_a_jobs_own_options_are_stronger_than_the_services(prefix: str) -> None:
    """Under either prefix, and what it does not say stays."""
    own = {f"{prefix}utilization.target": "0.8", f"{prefix}restart.time": "90 s", f"{prefix}quota.memory": "30g"}
    options = for_job(SERVICE, KEY, own).options
    assert (options.utilization_target, options.restart_time) == (0.8, timedelta(seconds=90))
    assert options.quota_memory == 30 * 2**30
    assert options.max_parallelism == 50


def test_what_does_not_concern_headgate_is_left_aside() -> None:
    """A Flink configuration is long, and a job's parameters may be called anything."""
    own = {"parallelism.default": "2", "mode": "fast", "clusters": "a,b", "url": "http://planted-secret"}
    assert for_job(SERVICE, KEY, own) == JobSettings(options=SERVICE.autoscaler)


def test_the_plain_prefix_wins() -> None:
    """As in the file."""
    own = {
        "kubernetes.operator.job.autoscaler.utilization.target": "0.5",
        "job.autoscaler.utilization.target": "0.8",
    }
    assert for_job(SERVICE, KEY, own).options.utilization_target == 0.8


def test_a_job_may_ask_for_the_references_rules() -> None:
    """Under the key by which people know the option."""
    assert for_job(SERVICE, KEY, {"headgate.parity": "1.16.0"}).options.parity is Parity.REFERENCE


def test_all_faults_are_told_and_the_services_options_hold() -> None:
    """Half of what an owner wants may be worse than nothing of it."""
    faulty = settings(utilization_target="1.5", restart_time="soon", excluded_periods="17:00-9:00", enabled="true")
    assert faulty.options == replace(SERVICE.autoscaler, scaling_enabled=False)
    assert [fault.split(": ")[1] for fault in faulty.faults] == [
        "job.autoscaler.utilization.target",
        "job.autoscaler.restart.time",
        "job.autoscaler.excluded.periods",
    ]
    assert faulty.told[-1] == (
        "the job's configuration: none of its options holds; the service's hold instead, "
        "and this job is only advised until they are right"
    )


def test_a_slip_beside_a_prohibition_does_not_lift_it() -> None:
    """Who may have forbidden to be scaled is not scaled; the rest is the service's."""
    slip = settings(scaling_enabled="false", metrics_window="15")
    assert len(slip.faults) == 1
    assert slip.options == replace(SERVICE.autoscaler, scaling_enabled=False)


def test_a_job_may_switch_itself_off_and_say_nothing_else() -> None:
    """What the service leaves unset stays so."""
    off = settings(enabled="false")
    assert off.told == ()
    assert off.options == replace(SERVICE.autoscaler, enabled=False, keys_set=("enabled",))


@pytest.mark.parametrize(
    ("own", "limit"),
    [
        ({"metrics_window": "3651 d"}, "a duration, above 0 s, at most 3650 d"),
        ({"catch-up_duration": "999999999 d"}, "a duration, at most 3650 d"),
        ({"vertex_max-parallelism": "2147483648"}, "a whole number, at least 1, at most 2147483647"),
        ({"scale-down_max-factor": "inf"}, "a number, at least 0, at most 2147483647"),
        ({"scale-up_max-factor": "1e308"}, "a number, at least 0, at most 2147483647"),
        ({"quota_cpu": "nan"}, "a number, above 0, at most 2147483647"),
    ],
)
def test_what_is_too_large_to_reckon_with_is_refused(own: dict[str, str], limit: str) -> None:
    """No date and no number that follows from an option runs over."""
    (fault,) = settings(SERVICE, **own).faults
    assert f"expected {limit}" in fault


def test_the_largest_that_can_be_reckoned_with_is_taken() -> None:
    """And so is a target of 0, as by the reference."""
    own = {"metrics_window": "3650 d", "vertex_max-parallelism": "2147483647", "utilization_target": "0"}
    large = settings(SERVICE, **own)
    assert large.faults == ()
    assert (large.options.max_parallelism, large.options.utilization_target) == (2**31 - 1, 0)


def test_options_that_contradict_the_services_are_told() -> None:
    """Each is good by itself."""
    (fault,) = for_job(SERVICE, KEY, {"job.autoscaler.vertex.min-parallelism": "60"}).faults
    assert fault == (
        "the job's configuration: job.autoscaler.vertex.min-parallelism: "
        "vertex.min-parallelism 60 is above vertex.max-parallelism 50"
    )


def test_a_job_that_turns_something_on_gets_the_services_values_checked() -> None:
    """They did not matter before."""
    service = ServiceOptions(clusters=CLUSTERS, autoscaler=AutoscalerOptions(memory_tuning_overhead=2.0))
    assert settings(service, memory_tuning_enabled="false").faults == ()
    (fault,) = settings(service, memory_tuning_enabled="true").faults
    assert "memory.tuning.overhead: found 2.0, expected a number, at least 0, at most 1" in fault


def test_what_a_job_does_not_say_of_a_group_stays_the_services() -> None:
    """Also where it says something else of the same group, or of no group at all."""
    rollback, reactive = RollbackOptions(enabled=False), ReactiveOptions(min_parallelism=4)
    service = ServiceOptions(clusters=CLUSTERS, autoscaler=AutoscalerOptions(rollback=rollback, reactive=reactive))
    for own in ({"utilization_target": "0.8"}, {"reactive_weight": "3"}):
        options = settings(service, **own).options
        assert (options.rollback.enabled, options.reactive.min_parallelism) == (False, 4)
    assert options.reactive.weight == 3


@pytest.mark.parametrize(
    ("own", "fault"),
    [
        ({"rollback_enabled": "no way"}, "job.autoscaler.rollback.enabled: found 'no way', expected true or false"),
        ({"reactive_min-parallelism": "abc"}, "job.autoscaler.reactive.min-parallelism: found 'abc'"),
        ({"reactive_min-parallelism": "5", "reactive_max-parallelism": "2"}, "min-parallelism 5 is above max"),
        ({"reactive_min-parallelism": "5"}, "reactive.min-parallelism: min-parallelism 5 is above max-parallelism 4"),
    ],
)
def test_a_fault_in_a_group_is_one_of_the_job(own: dict[str, str], fault: str) -> None:
    """None of its options holds, in the group or beside it, and the job is only advised."""
    service = ServiceOptions(
        clusters=CLUSTERS, autoscaler=AutoscalerOptions(reactive=ReactiveOptions(max_parallelism=4))
    )
    faulty = settings(service, utilization_target="0.8", **own)
    assert faulty.options == replace(service.autoscaler, scaling_enabled=False)
    assert [fault in told for told in faulty.faults] == [True]
    assert "none of its options holds" in faulty.told[-1]


def test_what_is_the_operators_is_ignored_with_a_warning() -> None:
    """A class or an address that anybody who submits a job could set would be a way in."""
    own = {
        "job.autoscaler.metrics.custom-evaluator.mine.class": "evil.Plugin",
        "job.autoscaler.flink.rest-client.timeout": "1 d",
        "job.autoscaler.no.such.option": "planted-secret",
        "job.autoscaler.target.utilization": "0.5",
    }
    settings = for_job(SERVICE, KEY, own)
    assert settings.options.utilization_target == 0.5
    assert settings.faults == ()
    assert [warning.split(": ")[2].partition(".")[0] for warning in settings.warnings] == [
        "ignored, a job may not set it",
        "ignored, a job may not set it",
        "ignored, an unknown option",
        "an old name",
    ]
    assert "planted-secret" not in str(settings.warnings)
