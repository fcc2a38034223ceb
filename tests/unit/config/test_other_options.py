"""Other options are read once, and laid over those of any job."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headgate.config.other import OtherOptions
from headgate.errors import ConfigError
from headgate.options.autoscaler import AutoscalerOptions


def test_only_what_is_named_changes() -> None:
    """With the prefix or without it; the rest stays as the job has it."""
    held = AutoscalerOptions(metrics_window=timedelta(minutes=3))
    settings = {"utilization.target": "0.5", "job.autoscaler.rollback.enabled": "false"}

    other = OtherOptions.read(settings).over(held)

    assert (other.utilization_target, other.rollback.enabled) == (0.5, False)
    assert other.metrics_window == held.metrics_window


def test_the_command_line_is_stronger_than_the_file(tmp_path: Path) -> None:
    """A file holds what is tried every time."""
    file = tmp_path / "try.yaml"
    file.write_text("utilization.target: 0.4\njob.autoscaler.vertex.min-parallelism: 2\n")

    other = OtherOptions.read({"utilization.target": "0.5"}, file).over(AutoscalerOptions())

    assert (other.utilization_target, other.min_parallelism) == (0.5, 2)


def test_no_other_options_are_the_job_s_own() -> None:
    """The very same object: nothing is laid out anew."""
    held = AutoscalerOptions()

    assert OtherOptions.read({}).over(held) is held


def test_what_does_not_go_together_with_a_job_s_own_is_refused() -> None:
    """A bound may be right by itself, and wrong over another one."""
    other = OtherOptions.read({"vertex.min-parallelism": "100"})

    with pytest.raises(ConfigError, match="min-parallelism"):
        other.over(AutoscalerOptions(max_parallelism=50))
