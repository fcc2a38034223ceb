"""What is set for an agent, and which of it holds."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headgate.agent.settings import read_settings
from headgate.errors import ConfigError
from headgate.options.agent import AgentOptions
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import Mode

TARGET = "job.autoscaler.utilization.target"


def test_nothing_set_is_what_suits_a_spark_application() -> None:
    """It acts, and what executors that come in seconds allow is the default, not what Flink's restarts ask for."""
    options = read_settings({}, {}).options
    assert options.mode is Mode.ACT
    assert options.autoscaler.evaluator == "micro-batch"
    assert options.autoscaler.metrics_window < AutoscalerOptions().metrics_window


def test_what_is_given_wins_over_the_session_and_both_over_the_defaults() -> None:
    """Under the same keys, the session's with `spark.headgate.` before them."""
    session = {f"spark.headgate.{TARGET}": "0.5", "spark.headgate.mode": "advise", "spark.app.name": "orders"}
    options = read_settings(session, {TARGET: "0.6"}).options
    assert options.autoscaler.utilization_target == 0.6
    assert options.mode is Mode.ADVISE


def test_values_of_python_are_as_good_as_texts() -> None:
    """Who writes Python need not write durations as text; None goes back to the default."""
    given = {
        TARGET: 0.6,
        "job.autoscaler.scaling.enabled": False,
        "collect.interval": timedelta(seconds=1),
        "job.autoscaler.vertex.exclude.ids": ["a", "b"],
        "job.autoscaler.metrics.window": None,
    }
    options = read_settings({"spark.headgate.job.autoscaler.metrics.window": "9 s"}, given).options
    assert options.autoscaler.utilization_target == 0.6
    assert not options.autoscaler.scaling_enabled
    assert options.collect_interval == timedelta(seconds=1)
    assert options.autoscaler.vertex_exclude_ids == ("a", "b")
    assert options.autoscaler.metrics_window == AutoscalerOptions().metrics_window


def test_all_faults_are_told_together_each_with_its_place() -> None:
    """Unknown keys, wrong units and plugins that are not there, in the session and in what is given."""
    session = {"spark.headgate.job.autoscaler.metrics.window": "20", "spark.headgate.colect.interval": "1 s"}
    given = {TARGET: "2", "job.autoscaler.metric.evaluator.class": "magic", "clusters": "[]"}
    with pytest.raises(ConfigError) as refused:
        read_settings(session, given)
    faults = "\n".join(refused.value.faults)
    assert len(refused.value.faults) == 5
    assert "the session's configuration: spark.headgate.job.autoscaler.metrics.window: found '20'" in faults
    assert "Hint: write a number and its unit, like '30 s'" in faults
    assert "spark.headgate.colect.interval: unknown option. Hint: did you mean collect.interval" in faults
    assert f"the options given to attach: {TARGET}: found '2'" in faults
    assert "no metric evaluator 'magic' is registered" in faults
    assert "the options given to attach: clusters: unknown option" in faults


def test_bounds_that_contradict_each_other_are_told_too() -> None:
    """What no single value shows."""
    given = {"job.autoscaler.vertex.min-parallelism": "5", "job.autoscaler.vertex.max-parallelism": "2"}
    with pytest.raises(ConfigError, match=r"vertex\.min-parallelism 5 is above vertex\.max-parallelism 2"):
        read_settings({}, given)


def test_keys_that_are_no_text_are_faults_like_others() -> None:
    """Named as they were written."""
    with pytest.raises(ConfigError, match=r"(?s)no text.*unknown option"):
        read_settings({}, {5: "x", "colour": "red"})  # type: ignore[dict-item]


def test_settings_of_a_query_are_no_options() -> None:
    """The fault says where they belong."""
    with pytest.raises(ConfigError, match=r"query\.orders\.trigger-interval.*Agent\.manage"):
        read_settings({"spark.headgate.query.orders.trigger-interval": "10 s"}, {})


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    """It would be logged with every report that does not arrive."""
    with pytest.raises(ValueError, match=r"report\.token") as refused:
        AgentOptions(report_url="http://me:sesame@host:9465")
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [({"cluster": "a/b"}, "cannot stand in a job key"), ({"report_url": "ftp://host"}, "is no address")],
)
def test_what_would_fail_later_is_refused_at_once(options: dict[str, str], why: str) -> None:
    """A cluster's name with a slash, and an address that nobody can send to."""
    with pytest.raises(ValueError, match=why):
        AgentOptions(**options)  # type: ignore[arg-type]
