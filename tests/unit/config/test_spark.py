"""Spark clusters in the configuration, and the options of their applications."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.config import for_job, load
from headgate.config.beneath import laid_beneath
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.micro_batch import DEFAULTS
from headgate.options.service import ServiceOptions

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "scale-spark-from-outside.md"
KEY = JobKey("streams", "orders")


def loaded(*entries: str, clusters: str = "[]", **flags: str) -> ServiceOptions:
    """Load a configuration with these Spark clusters, written as YAML in one line."""
    environ = {"HEADGATE_CLUSTERS": clusters, "HEADGATE_SPARK_CLUSTERS": f"[{', '.join(entries)}]"}
    return load(None, environ, {key.replace("_", "."): text for key, text in flags.items()}).options


def entry(**changes: str) -> str:
    """Write a cluster, with some keys otherwise or without them."""
    keys = {"name": "streams", "master": "'http://127.0.0.1:8080'", "event-log-dir": "/events"} | {
        key.replace("_", "-"): text for key, text in changes.items()
    }
    return "{" + ", ".join(f"{key}: {text}" for key, text in keys.items() if text) + "}"


def test_a_cluster_is_read() -> None:
    """With all applications and no provider, unless told otherwise."""
    (cluster,) = loaded(entry(applications="[orders*, clicks]", workers="{provider: null, max: 4}")).spark
    assert (cluster.name, cluster.event_log_dir) == ("streams", Path("/events"))
    assert cluster.applications == ("orders*", "clicks")
    assert (cluster.workers.provider, cluster.workers.most) == (None, 4)
    assert loaded(entry()).spark[0].applications == ("*",)
    assert loaded(entry(event_log_dir="")).spark[0].event_log_dir is None


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"name": "a/b"}, "without a slash"),
        ({"master": "'spark://127.0.0.1:7077'"}, "web pages, http://host:8080"),
        ({"master": "'k8s://https://cluster'"}, "call headgate.attach in the application"),
        ({"event_log_dir": "'file:///events'"}, "write a path, without file://"),
        ({"driver": "'spark://127.0.0.1:1'"}, "driver of streams does not begin"),
    ],
)
def test_what_could_never_work_is_a_fault_with_its_place(changes: dict[str, str], fault: str) -> None:
    """And with the way out."""
    with pytest.raises(ConfigError, match=r"spark-clusters\[0\]") as caught:
        loaded(entry(**changes))
    assert fault in str(caught.value)


def test_all_faults_are_told_together() -> None:
    """Of both clusters."""
    with pytest.raises(ConfigError) as caught:
        loaded(entry(name="a/b"), entry(name="other", master="nowhere"))
    assert ["spark-clusters[0].name" in str(caught.value), "spark-clusters[1].master" in str(caught.value)] == [
        True
    ] * 2


def test_a_name_stands_for_one_cluster() -> None:
    """Of whatever engine: it stands in job keys."""
    with pytest.raises(ConfigError, match="the name streams stands twice"):
        loaded(entry(), clusters="[{name: streams, url: 'http://127.0.0.1:8081'}]")


def test_a_provider_belongs_to_one_cluster() -> None:
    """Flink's and Spark's would be at odds about the number of its workers."""
    with pytest.raises(ConfigError, match="its workers are those of cluster flink already"):
        loaded(
            entry(workers="{provider: machine}"),
            clusters="[{name: flink, url: 'http://127.0.0.1:8081', workers: {provider: machine}}]",
            headgate_plugins_machine_class="local-processes",
            headgate_plugins_machine_directory="/cluster",
        )


def test_applications_have_defaults_of_their_own() -> None:
    """The evaluator of micro-batches, waves, and a window of seconds."""
    options = for_job(loaded(entry()), KEY, beneath=DEFAULTS).options
    assert (options.evaluator, options.alignment_mode) == ("micro-batch", "WAVES")
    assert options.metrics_window == timedelta(seconds=20)


def test_the_same_options_are_one_object() -> None:
    """Applications that share them are decided together; those of Flink's jobs are the very ones of the service."""
    service = loaded(entry())
    first, second = (for_job(service, JobKey("streams", name), beneath=DEFAULTS).options for name in "ab")
    assert first is second
    assert laid_beneath(service.autoscaler, {}) is service.autoscaler
    assert laid_beneath(first, DEFAULTS) is first


def test_what_is_set_wins_over_them() -> None:
    """For all jobs, or for this one; the rest of the defaults still holds."""
    service = loaded(entry(), job_autoscaler_metrics_window="1 min", job_autoscaler_restart_time="30 s")
    options = for_job(service, KEY, beneath=DEFAULTS).options
    assert (options.metrics_window, options.restart_time) == (timedelta(minutes=1), timedelta(seconds=30))
    assert options.evaluator == "micro-batch"


def test_jobs_of_other_clusters_know_nothing_of_them() -> None:
    """Flink's stay as they were."""
    assert for_job(loaded(entry()), KEY).options == AutoscalerOptions()


def test_the_examples_of_the_documentation_are_right(tmp_path: Path) -> None:
    """As they stand, the second one's workers in place of the first one's."""
    configuration, on_kubernetes = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    whole = configuration.index("headgate.plugins"), configuration.index("mode:")
    other = configuration[: whole[0]] + on_kubernetes + configuration[whole[1] :]
    for text in (configuration, other):
        file = tmp_path / "headgate.yaml"
        file.write_text(text)
        read = load(file, {}, {})
        assert read.warnings == ()
        assert [cluster.workers.provider for cluster in read.options.spark] == ["machine"]
        assert read.options.spark[0].workers.most == 8
