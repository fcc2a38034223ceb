"""What is wrong with a configuration is told completely, with place, key, what was found and what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from headgate.config import load
from headgate.errors import ConfigError

Write = Callable[..., Path]

CLUSTER = "clusters: [{name: local, url: http://127.0.0.1:8081}]\n"
COUNT = "a whole number, at least 1, at most 2147483647"
DURATION = "a duration, above 0 s, at most 3650 d. Hint: write a number and its unit, like '30 s'"


def faults(path: Path, environ: Mapping[str, str] | None = None, flags: Mapping[str, str] | None = None) -> list[str]:
    """Load what cannot be loaded and give what is told."""
    with pytest.raises(ConfigError) as raised:
        load(path, environ or {}, flags or {})
    return list(raised.value.faults)


def test_all_faults_of_all_sections_and_sources_are_told_together(write: Write) -> None:
    """One run of the check is enough to correct a file; a fault in one section hides none in another."""
    path = write(
        """\
        clusters:
          - name: a/b
            url: http://127.0.0.1:8081
          - name: c
            headers: {X: [1]}
        mode: actt
        job.autoscaler:
          metrics.window: 30
          vertex:
            min-parallelism: 0
          restart.tme: 1 s
        log: /var/headgate
        jobs:
          - autoscaler: {utilization.min: 0.9}
            match: "*"
          - "*"
        """
    )
    assert faults(path, {"HEADGATE_DECIDE__INTERVAL": "0"}, {"pipeline": "flink"}) == [
        "headgate.yaml:2: clusters[0].name: name 'a/b' must be a text without a slash, as it stands in job keys",
        "headgate.yaml:4: clusters[1]: url is missing, expected text",
        "headgate.yaml:5: clusters[1].headers.X: found a list, expected text",
        "headgate.yaml:6: mode: found 'actt', expected one of advise, act",
        f"headgate.yaml:8: job.autoscaler.metrics.window: found '30', expected {DURATION}",
        f"headgate.yaml:10: job.autoscaler.vertex.min-parallelism: found '0', expected {COUNT}",
        "headgate.yaml:11: job.autoscaler.restart.tme: unknown option. Hint: did you mean job.autoscaler.restart.time?",
        "headgate.yaml:12: log: found '/var/headgate', expected a section",
        "headgate.yaml:16: jobs[1]: found '*', expected a section",
        f"environment HEADGATE_DECIDE__INTERVAL: decide.interval: found '0', expected {DURATION}",
        "command line: pipeline: found 'flink', expected one of spark, in-process",
    ]


def test_options_that_contradict_each_other_are_told_with_both_places(write: Write) -> None:
    """A fault between options belongs to no single line, and is told once although it holds for a job as well."""
    path = write(
        CLUSTER
        + "job.autoscaler.vertex.min-parallelism: 9\njob.autoscaler.vertex.max-parallelism: 8\njobs: [{match: x}]\n"
    )
    assert faults(path) == [
        "headgate.yaml:2, headgate.yaml:3: vertex.min-parallelism 9 is above vertex.max-parallelism 8"
    ]


def test_a_job_that_contradicts_the_general_options_is_told(write: Write) -> None:
    """The general options are good, those of the job are, together they are not."""
    path = write(
        CLUSTER
        + "job.autoscaler.vertex.min-parallelism: 9\njobs:\n- {match: x, autoscaler.vertex.max-parallelism: 8}\n"
    )
    (fault,) = faults(path)
    assert fault.startswith("headgate.yaml:2, headgate.yaml:4: ")


def test_faults_between_clusters_show_beside_those_inside_other_groups(write: Write) -> None:
    """Two clusters of one name, and a value elsewhere that is none."""
    path = write("clusters:\n- &a {name: a, url: http://a}\n- *a\nlog.retention: 7\n")
    assert [fault.partition(": ")[2] for fault in faults(path)] == [
        "clusters: the name a stands twice in clusters",
        f"log.retention: found '7', expected {DURATION}",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "headgate.yaml: clusters is missing, expected a list of sections"),
        ("clusters: []", "headgate.yaml:1: clusters: at least one entry in clusters is needed"),
        ("clusters: local", "headgate.yaml:1: clusters: found a text that is not shown, expected a list of sections"),
        (CLUSTER + "mode: [act]", "headgate.yaml:2: mode: found a list, expected one of advise, act"),
        (CLUSTER + "mode: {is: act}", "headgate.yaml:2: mode.is: unknown option. Hint: did you mean mode?"),
        (CLUSTER + "mode: act\nmode: act", "headgate.yaml:3: mode: stands twice, first at headgate.yaml:2"),
        (CLUSTER + "log: {path: a}\nlog.path: a", "headgate.yaml:3: log.path: stands twice, first at headgate.yaml:2"),
        (CLUSTER + "job.autoscaler.vertex.exclude.ids: [[a]]", "a list inside a list is not expected"),
        (CLUSTER + "zzz: 1", "headgate.yaml:2: zzz: unknown option"),
        (CLUSTER.replace("http", "ftp"), "clusters[0].url: url of cluster local does not begin with http://"),
        ("- a", "headgate.yaml: found no keys on the top level, expected options as `key: value`"),
        ("mode: [", "headgate.yaml:1: not YAML: expected the node content, but found '<stream end>'"),
        ("mode: 'act", "headgate.yaml:1: not YAML: found unexpected end of stream"),
        ("mode: act\n---\nmode: act", "headgate.yaml:2: not YAML: but found another document"),
        ("mode: \0", "headgate.yaml: not YAML: unacceptable character"),
        ("jobs: &jobs [*jobs]", "headgate.yaml: nested too deeply, or an alias contains itself"),
        ("? [a]\n: b", "headgate.yaml:1: a key must be a text"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(write: Write, text: str, expected: str) -> None:
    """Each fault is the only one: nothing that follows from it is told as well."""
    (fault,) = faults(write(text))
    assert expected in fault


@pytest.mark.parametrize("text", ["a =", "a = 1\na = 2"])
def test_a_toml_file_that_is_none_says_why(write: Write, text: str) -> None:
    """The parser's own words hold the line."""
    (fault,) = faults(write(text, "headgate.toml"))
    assert fault.startswith("headgate.toml: not TOML: ")


def test_a_file_that_cannot_be_read_hides_no_fault_elsewhere(write: Write) -> None:
    """What the file would have said is not missed, what the environment says is checked."""
    write("")
    hint = "Hint: --config names another, `headgate init` writes one"
    assert faults(Path("absent.yaml"), {"HEADGATE_MODE": "x"}) == [
        f"absent.yaml: cannot be read: No such file or directory. {hint}",
        "environment HEADGATE_MODE: mode: found 'x', expected one of advise, act",
    ]


def test_only_known_kinds_of_file_are_read(write: Write) -> None:
    """The ending decides, and the ones that are known are named."""
    assert faults(write("{}", "headgate.json")) == [
        "headgate.json: found the ending '.json', expected one of .yaml, .yml, .toml"
    ]


def test_a_file_in_another_encoding_is_told(write: Write) -> None:
    """Bytes that are not UTF-8 are no configuration."""
    path = write("")
    path.write_bytes(b"mode: \xff")
    assert faults(path) == ["headgate.yaml: cannot be read: not UTF-8"]


def test_a_faulty_list_of_sections_in_the_environment_is_told(write: Write) -> None:
    """It is YAML in one line, or it is nothing."""
    for text in ("[", "{name: a}"):
        (fault,) = faults(write(""), {"HEADGATE_CLUSTERS": text})
        assert fault == (
            "environment HEADGATE_CLUSTERS: clusters: found a text that is not shown, expected a list of sections"
        )


def test_a_variable_that_is_no_option_is_a_warning_at_most(write: Write) -> None:
    """A secret may have our prefix; only what looks like a slip of the pen is told."""
    environ = {"HEADGATE_MOD": "act", "HEADGATE_KAFKA_PASSWORD": "planted-secret", "PATH": "/bin"}
    assert load(write(CLUSTER), environ, {}).warnings == (
        "environment HEADGATE_MOD: mod: not an option. Hint: did you mean mode?",
    )


def test_no_fault_shows_a_secret(write: Write) -> None:
    """A value that may hold a secret is not repeated when it is faulty."""
    path = write(
        """
        clusters:
          - {name: a, url: "ftp://user:planted-secret@host", headers: planted-secret}
          - {name: b, url: [planted-secret], headers: {X: [planted-secret]}}
          - {name: c, url: "planted-secret"}
        state-store: [planted-secret]
        """
    )
    assert "planted-secret" not in str(faults(path, {"HEADGATE_STATE_STOR": "planted-secret"}))
