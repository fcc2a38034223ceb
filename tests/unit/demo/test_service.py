"""What the demo's Headgate is told."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from headgate.config import load
from headgate.demo.draw import UTILIZATION_MAX, UTILIZATION_MIN, UTILIZATION_TARGET
from headgate.demo.service import configuration
from headgate.options.service import Mode

URL = "http://127.0.0.1:8081"


@pytest.mark.parametrize(("dry_run", "mode"), [(False, Mode.ACT), (True, Mode.ADVISE)])
def test_the_configuration_is_one_that_headgate_accepts(dry_run: bool, mode: Mode, tmp_path: Path) -> None:  # noqa: FBT001
    """It holds the cluster's address, short times and the band that the draw reckons with, and is free of faults."""
    file = tmp_path / "headgate.yaml"
    file.write_text(yaml.safe_dump(dict(configuration(URL, tmp_path, dry_run=dry_run))))
    loaded = load(file, {}, {})
    options = loaded.options
    assert loaded.warnings == ()
    assert options.mode is mode
    assert [cluster.url for cluster in options.clusters] == [URL]
    assert options.autoscaler.metrics_window == timedelta(seconds=12)
    assert options.autoscaler.utilization_target == UTILIZATION_TARGET
    assert options.autoscaler.utilization_band == (UTILIZATION_MIN, UTILIZATION_MAX)


def test_everything_is_written_into_the_demos_directory(tmp_path: Path) -> None:
    """Where the demo is started nothing is left."""
    told = configuration(URL, tmp_path, dry_run=False)
    assert str(tmp_path) in str(told["log.path"])
    assert str(tmp_path) in str(told["state-store"])


def test_nothing_of_the_workload_is_told(tmp_path: Path) -> None:
    """Headgate must find out by itself: no cost, no selectivity, no load, no name of a job."""
    assert {key.removeprefix("job.autoscaler.") for key in configuration(URL, tmp_path, dry_run=False)} == {
        "clusters",
        "mode",
        "collect.interval",
        "decide.interval",
        "log.path",
        "state-store",
        "metrics.window",
        "stabilization.interval",
        "restart.time",
        "utilization.target",
        "utilization.max",
        "utilization.min",
        "metrics.busy-time.aggregator",
        "scale-down.interval",
        "scale-down.max-factor",
        "scaling.parallelism-alignment.mode",
    }
