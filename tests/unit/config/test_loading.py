"""File, environment and flags become options, each with its origin."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.config import Loaded, for_job, load
from headgate.model.identity import JobKey
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, Mode, ServiceOptions

Write = Callable[..., Path]

CLUSTER = "clusters: [{name: local, url: http://127.0.0.1:8081}]\n"


def test_a_cluster_is_all_that_must_be_said() -> None:
    """Everything else has a default, and the default of the mode changes nothing."""
    loaded = load(None, {"HEADGATE_CLUSTERS": "[{name: local, url: 'http://127.0.0.1:8081'}]"}, {})
    assert loaded == Loaded(
        options=ServiceOptions(clusters=(ClusterOptions(name="local", url="http://127.0.0.1:8081"),)),
        origins=loaded.origins,
        warnings=(),
    )
    assert loaded.options.mode is Mode.ADVISE


def test_keys_may_be_nested_or_dotted_in_any_mixture(write: Write) -> None:
    """Sections and dots mean the same."""
    path = write(CLUSTER + "job:\n  autoscaler.utilization:\n    target: 0.8\njob.autoscaler.restart.time: 2 min\n")
    autoscaler = load(path, {}, {}).options.autoscaler
    both = ("restart.time", "utilization.target")
    assert autoscaler == AutoscalerOptions(utilization_target=0.8, restart_time=timedelta(minutes=2), keys_set=both)


def test_toml_says_the_same_as_yaml(write: Write) -> None:
    """The ending of the file decides how it is read."""
    yaml = write(CLUSTER + "mode: act\njob.autoscaler: {vertex.exclude.ids: [a, b], scaling.enabled: false}\n")
    toml = write(
        """
        mode = "act"
        [[clusters]]
        name = "local"
        url = "http://127.0.0.1:8081"
        [job.autoscaler]
        vertex.exclude.ids = ["a", "b"]
        scaling.enabled = false
        """,
        "headgate.toml",
    )
    assert load(yaml, {}, {}).options == load(toml, {}, {}).options


def test_flags_are_stronger_than_the_environment_and_that_than_the_file(write: Write) -> None:
    """Each source overrides what the one before says, and nothing else of it."""
    path = write(CLUSTER + "collect.interval: 1 s\ndecide.interval: 1 s\nspark.master: file\n")
    environ = {"HEADGATE_DECIDE__INTERVAL": "2 s", "HEADGATE_SPARK__MASTER": "environment"}
    options = load(path, environ, {"spark.master": "flag"}).options
    assert options.collect_interval == timedelta(seconds=1)
    assert options.decide_interval == timedelta(seconds=2)
    assert options.spark_master == "flag"


def test_a_variable_names_its_key_with_underscores(write: Write) -> None:
    """Two underscores are a dot, one is a hyphen."""
    environ = {"HEADGATE_JOB__AUTOSCALER__VERTEX__MIN_PARALLELISM": "3", "HEADGATE_STATE_STORE": "memory"}
    options = load(write(CLUSTER), environ, {}).options
    assert options.autoscaler.min_parallelism == 3
    assert options.state_store == "memory"


def test_every_value_knows_where_it_is_set(write: Write) -> None:
    """File and line, variable or flag; what is at its default has no origin."""
    path = write(CLUSTER + "job.autoscaler:\n  restart.time: 2 min\njobs:\n  - match: '*'\n")
    origins = load(path, {"HEADGATE_MODE": "act"}, {"pipeline": "in-process"}).origins
    assert {key: str(origin) for key, origin in origins.items()} == {
        "clusters": "headgate.yaml:1",
        "clusters[0].name": "headgate.yaml:1",
        "clusters[0].url": "headgate.yaml:1",
        "job.autoscaler.restart.time": "headgate.yaml:3",
        "jobs": "headgate.yaml:5",
        "jobs[0].match": "headgate.yaml:5",
        "mode": "environment HEADGATE_MODE",
        "pipeline": "command line",
    }


def test_null_resets_an_option_to_its_default(write: Write) -> None:
    """A stronger source can take back what a weaker one says, without knowing the default."""
    path = write(CLUSTER + "job.autoscaler.restart.time: 2 min\njobs: [{match: '*', autoscaler.restart.time: null}]\n")
    options = load(path, {}, {}).options
    assert options.autoscaler.restart_time == timedelta(minutes=2)
    assert options.jobs[0].autoscaler.restart_time == AutoscalerOptions().restart_time


class TestSpellings:
    """Options of the reference autoscaler are read as they stand in other people's files."""

    LEGACY = "kubernetes.operator.job.autoscaler."

    def test_the_operators_prefix_is_as_good(self, write: Write) -> None:
        """A file written for Flink's Kubernetes operator needs no change, and brings no warning."""
        loaded = load(write(f"{CLUSTER}{self.LEGACY}utilization.target: 0.5\n"), {}, {})
        assert loaded.options.autoscaler.utilization_target == 0.5
        assert loaded.warnings == ()

    @pytest.mark.parametrize("turn", [1, -1])
    def test_the_plain_prefix_wins(self, write: Write, turn: int) -> None:
        """Whatever the order in which both stand."""
        lines = [f"{self.LEGACY}utilization.target: 0.5\n", "job.autoscaler.utilization.target: 0.6\n"]
        assert load(write(CLUSTER + "".join(lines[::turn])), {}, {}).options.autoscaler.utilization_target == 0.6

    def test_an_old_name_is_read_with_a_warning(self, write: Write) -> None:
        """The warning has the place and the new name."""
        loaded = load(write(CLUSTER + "job.autoscaler.target.utilization: 0.5\n"), {}, {})
        assert loaded.options.autoscaler.utilization_target == 0.5
        (warning,) = loaded.warnings
        assert warning.startswith("headgate.yaml:2: job.autoscaler.target.utilization: an old name")
        assert warning.endswith("Hint: write job.autoscaler.utilization.target")

    def test_the_new_name_wins_over_the_old_one_under_any_prefix(self, write: Write) -> None:
        """Age counts more than the prefix, as in the reference."""
        text = f"job.autoscaler.target.utilization: 0.5\n{self.LEGACY}utilization.target: 0.6\n"
        assert load(write(CLUSTER + text), {}, {}).options.autoscaler.utilization_target == 0.6

    def test_a_stronger_source_wins_whatever_its_spelling(self, write: Write) -> None:
        """A flag in an old spelling still overrides the file."""
        path = write(CLUSTER + "job.autoscaler.utilization.target: 0.5\n")
        loaded = load(path, {}, {f"{self.LEGACY}target.utilization": "0.6"})
        assert loaded.options.autoscaler.utilization_target == 0.6


class TestJobs:
    """Some jobs have options of their own, over the general ones."""

    TEXT = """
        clusters: [{name: local, url: http://127.0.0.1:8081}]
        job.autoscaler: {utilization.target: 0.6, restart.time: 2 min}
        jobs:
          - match: local/*
            autoscaler: {utilization.target: 0.5}
          - match: local/sales[eu]*
            kubernetes.operator.job.autoscaler.restart.time: 3 min
        """

    @pytest.mark.parametrize(
        ("job", "target", "minutes"),
        [
            ("elsewhere/sales", 0.6, 2),
            ("local/clicks", 0.5, 2),
            ("local/sales[eu] #1", 0.6, 3),
            ("local/salese", 0.5, 2),
        ],
    )
    def test_the_last_entry_that_matches_holds(self, write: Write, job: str, target: float, minutes: int) -> None:
        """An entry is the general options and its own, not those of entries before; brackets match themselves."""
        options = for_job(load(write(self.TEXT), {}, {}).options, JobKey.parse(job)).options
        assert options.utilization_target == target
        assert options.restart_time == timedelta(minutes=minutes)

    def test_general_options_from_a_flag_hold_for_the_entries_too(self, write: Write) -> None:
        """The entry is laid over what all sources together say in general."""
        options = load(write(self.TEXT), {}, {"job.autoscaler.vertex.max-parallelism": "8"}).options
        assert for_job(options, JobKey("local", "clicks")).options.max_parallelism == 8
