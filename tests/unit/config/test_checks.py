"""Bounds hold where they matter, and what only makes sense as a whole is looked at as a whole."""

from __future__ import annotations

import pytest

from headgate.config import describe, load
from headgate.errors import ConfigError
from headgate.options.deviations import Deviation, Parity

CLUSTERS = {"HEADGATE_CLUSTERS": "[{name: local, url: 'http://127.0.0.1:8081'}]"}


def faults(**flags: str) -> tuple[str, ...]:
    """Give the faults of some options, dots as underscores."""
    try:
        load(None, CLUSTERS, {f"job.autoscaler.{key.replace('_', '.')}": text for key, text in flags.items()})
    except ConfigError as error:
        return error.faults
    return ()


@pytest.mark.parametrize(
    ("switch", "option"),
    [
        ("memory_tuning_enabled", "memory_tuning_overhead"),
        ("scaling_effectiveness_detection_enabled", "scaling_effectiveness_threshold"),
        ("observed-scalability_enabled", "observed-scalability_coefficient-min"),
    ],
)
def test_a_bound_holds_while_its_switch_is_on(switch: str, option: str) -> None:
    """Off is the default of each; what is no number at all is a fault either way."""
    assert faults(**{option: "2"}) == ()
    assert faults(**{option: "2", switch: "false"}) == ()
    assert len(faults(**{option: "2", switch: "true"})) == 1
    assert len(faults(**{option: "much"})) == 1


def test_a_job_that_is_not_looked_after_may_say_what_it_likes() -> None:
    """Bounds, contradictions and periods alike."""
    nonsense = {"utilization_target": "7", "vertex_min-parallelism": "300", "excluded_periods": "always"}
    assert faults(**nonsense, enabled="false") == ()
    assert len(faults(**nonsense)) == 2


def test_a_vertex_may_be_meant_to_be_idle_or_never() -> None:
    """Both ends of the target are in the reference's range."""
    assert faults(utilization_target="0") == faults(utilization_target="1") == ()


def test_every_contradiction_is_told() -> None:
    """Three of them in one go."""
    told = faults(utilization_max="0.6", utilization_min="0.8", **{"vertex_min-parallelism": "201"})
    assert [text.split(": ")[1].removeprefix("job.autoscaler.") for text in told] == [
        "utilization.max",
        "utilization.min",
        "vertex.min-parallelism",
    ]


def test_periods_are_separated_by_semicolons_only() -> None:
    """A cron expression has commas of its own."""
    options = load(None, CLUSTERS, {"job.autoscaler.excluded.periods": "* * * ? * 2,5; 9:00-10:00"}).options
    assert options.autoscaler.excluded_periods == ("* * * ? * 2,5", "9:00-10:00")


def test_each_faulty_period_and_the_zone_are_told() -> None:
    """With the entry that is meant."""
    told = faults(excluded_periods="10:00-9:00;* * *", **{"excluded_periods_time-zone": "Nowhere"})
    assert [text.split(": ")[2].partition(" ")[0] for text in told] == ["'10:00-9:00'", "'*", "'Nowhere'"]


def test_an_agreement_that_the_assumed_downtime_breaks_is_warned_of() -> None:
    """At the place of the option, with both numbers; a shorter `restart.time` ends it."""
    agreed = {"job.autoscaler.sla.max-lag-time": "2 min", "job.autoscaler.sla.recovery-time": "10 min"}

    (told,) = load(None, CLUSTERS, agreed).warnings

    assert "sla.max-lag-time: 2 min is shorter than restart.time 5 min: nothing ever shrinks" in told
    assert load(None, CLUSTERS, {**agreed, "job.autoscaler.restart.time": "30 s"}).warnings == ()
    assert len(load(None, CLUSTERS, {**agreed, "job.autoscaler.restart.time": "20 min"}).warnings) == 2


def test_a_plugin_that_is_not_there_is_a_fault() -> None:
    """It would have decided, and nothing else would."""
    told = faults(**{"metrics_custom-evaluators": "mine", "scaling_custom-executors": "his;hers"})
    assert [text.split(": ")[2].split(",")[0] for text in told] == ["found 'mine'", "found 'his'", "found 'hers'"]
    assert all("is registered or declared. Hint: there is none" in text for text in told)


def test_an_unknown_alignment_is_a_warning() -> None:
    """The reference aligns as by default then, and so does Headgate; a definition of it is read and masked."""
    key = "job.autoscaler.scaling.parallelism-alignment.mode"
    loaded = load(None, CLUSTERS, {key: "mine", f"{key}.mine.class": "a.B", f"{key}.mine.step": "2"})
    (warning,) = loaded.warnings
    assert "found 'mine', which is none of BALANCED, EVENLY_SPREAD, OFF, WAVES: BALANCED holds" in warning
    assert loaded.options.custom_alignments == {"mine.class": "a.B", "mine.step": "2"}
    assert {each.key: each.value for each in describe(loaded)}[f"{key}.mine.class"] == "***"


@pytest.mark.parametrize("key", ["HEADGATE_PARITY", "HEADGATE_HEADGATE__PARITY", "HEADGATE_JOB__AUTOSCALER__PARITY"])
def test_parity_stands_apart_from_the_other_options(key: str) -> None:
    """In a variable, whose name begins with ours anyway, in the file, and for some jobs."""
    loaded = load(None, {**CLUSTERS, key: "1.16.0"}, {})
    assert loaded.options.autoscaler.parity is Parity.REFERENCE
    assert ("headgate.parity", "1.16.0", f"environment {key}") in describe(loaded)


def test_parity_may_hold_for_some_jobs() -> None:
    """Beside their other options."""
    jobs = "[{match: x, headgate.parity: 1.16.0, headgate.deviations.off: partitions-bound}]"
    loaded = load(None, {**CLUSTERS, "HEADGATE_JOBS": jobs}, {"headgate.parity": "current"})
    (entry,) = loaded.options.jobs
    assert (entry.autoscaler.parity, loaded.options.autoscaler.parity) == (Parity.REFERENCE, Parity.CURRENT)
    assert entry.autoscaler.deviations_off == (Deviation.PARTITIONS_BOUND,)
    assert "jobs[0].headgate.parity" in {each.key for each in describe(loaded)}


def test_sizes_of_memory_are_read_and_shown_with_units() -> None:
    """As in Flink, powers of 1024."""
    loaded = load(None, CLUSTERS, {"job.autoscaler.quota.memory": "1536m"})
    assert loaded.options.autoscaler.quota_memory == 1536 * 2**20
    assert {each.key: each.value for each in describe(loaded)}["job.autoscaler.quota.memory"] == "1536 mb"
    (fault,) = faults(quota_memory="much")
    assert fault.endswith(
        "found 'much', expected a memory size, above 0. Hint: write a whole number and its unit, like '30 gb'"
    )


def test_the_general_time_limit_holds_for_clusters_without_one() -> None:
    """The reference has one for all."""
    clusters = "[{name: a, url: http://a}, {name: b, url: http://b, request-timeout: 1 s}]"
    flags = {"job.autoscaler.flink.rest-client.timeout": "3 s"}
    options = load(None, {"HEADGATE_CLUSTERS": clusters}, flags).options
    assert [cluster.request_timeout.total_seconds() for cluster in options.clusters] == [3, 1]
