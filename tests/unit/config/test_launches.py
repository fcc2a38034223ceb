"""Launch specs are the operator's: read from the service's file, never from a job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headgate.config import for_job, load
from headgate.config.describing import describe
from headgate.config.launches import SAVEPOINT_REDEPLOY, launch_of, remarks
from headgate.errors import ConfigError
from headgate.model.identity import JobKey

ORDERS = JobKey("lab", "orders")
FILE = """\
clusters: [{name: lab, url: "http://127.0.0.1:1"}]
jobs:
  - match: lab/*
    launch:
      jar: /jars/all.jar
  - match: lab/orders
    launch:
      jar: /jars/orders.jar
      entry-class: Orders
      args: ["--topic", "a;b,c", "--password=${env:PASSWORD}"]
      configuration:
        state.backend.type: rocksdb
        execution: {checkpointing.interval: 10 s}
      parallelism: 4
      start-limit: 2 min
  - match: lab/ord*
    autoscaler: {vertex.max-parallelism: 8}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write the service's file."""
    path = tmp_path / "headgate.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_launch_spec_is_read_as_it_was_written(file: Path) -> None:
    """Arguments are not taken apart, Flink's keys may be nested, references to secrets stay references."""
    spec = launch_of(load(file, {}, {}).options, ORDERS)
    assert spec
    assert (spec.jar, spec.entry_class, spec.parallelism) == ("/jars/orders.jar", "Orders", 4)
    assert spec.args == ("--topic", "a;b,c", "--password=${env:PASSWORD}")
    assert spec.configuration == {"state.backend.type": "rocksdb", "execution.checkpointing.interval": "10 s"}
    assert spec.start_limit.total_seconds() == 120


def test_the_last_matching_entry_with_a_launch_spec_holds(file: Path) -> None:
    """A later entry without one takes none away."""
    options = load(file, {}, {}).options
    assert getattr(launch_of(options, JobKey("lab", "ordinary")), "jar", None) == "/jars/all.jar"
    assert launch_of(options, JobKey("other", "orders")) is None


def test_a_job_cannot_set_its_own(file: Path) -> None:
    """Under no prefix; it is warned of where it is one of Headgate's."""
    options = load(file, {}, {}).options
    own = {f"{prefix}launch.jar": "/tmp/evil.jar" for prefix in ("", "headgate.", "job.autoscaler.")}  # noqa: S108
    settings = for_job(options, ORDERS, own)
    assert not settings.faults
    assert len(settings.warnings) == 2
    assert "evil" not in str(settings.options)


def test_arguments_and_configuration_are_not_shown(file: Path) -> None:
    """They may hold passwords."""
    shown = {option.key: option.value for option in describe(load(file, {}, {}))}
    told = {key: value for key, value in shown.items() if key.startswith("jobs[1].launch")}
    assert "rocksdb" not in str(told)
    assert "--topic" not in str(told)


def test_a_launch_without_a_jar_is_refused(file: Path) -> None:
    """It would be found out in the middle of the night otherwise."""
    file.write_text(FILE.replace("jar: /jars/all.jar", "entry-class: All"), encoding="utf-8")
    with pytest.raises(ConfigError, match="launch has no jar"):
        load(file, {}, {})


def test_what_a_redeploy_means_is_said_beforehand(file: Path) -> None:
    """For each entry that asks for it: one parallelism for all, and whether there is something to start."""
    options = load(file, {}, {}).options
    assert not list(remarks(options))
    redeployed = replace(options.autoscaler, realizer=SAVEPOINT_REDEPLOY)
    entries = [replace(entry, autoscaler=redeployed) for entry in options.jobs]
    told = list(remarks(replace(options, jobs=tuple(entries))))
    assert told[1].startswith("lab/orders is rescaled by a redeploy")
    assert told[1].endswith("the largest that one needs")
    assert "headgate submit" in told[2]
    (general,) = remarks(replace(options, autoscaler=redeployed))
    assert "headgate submit" in general
