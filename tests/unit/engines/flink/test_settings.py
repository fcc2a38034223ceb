"""The cluster's settings that bound a rescale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headgate.engines.flink.settings import read_checkpoint_interval, read_config, settings_of
from headgate.model.samples import EngineSettings

Recorded = Callable[[str], Any]
PREFIX = "jobmanager.adaptive-scheduler."


def test_recorded_settings(recorded: Recorded) -> None:
    """The recorded cluster rescales at once, checkpoints every 5 s and fetches metrics twice a second."""
    config = read_config(recorded("jobmanager_config"))
    interval_s = read_checkpoint_interval(recorded("checkpoints_config"))
    assert settings_of(config, interval_s, adaptive=None) == EngineSettings(
        checkpoint_interval_s=5.0,
        rescale_cooldown_s=0.0,
        resource_stabilization_s=0.0,
        metric_refresh_s=0.5,
        adaptive=True,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scaling-interval.min", "executing.cooldown-after-rescaling"),
        ("scaling-interval.max", "executing.resource-stabilization-timeout"),
    ],
)
def test_renamed_keys_are_read_and_the_newer_wins(old: str, new: str) -> None:
    """Flink 2.0 renamed them; both hold durations with units."""

    def values(config: dict[str, str]) -> set[float]:
        found = settings_of(config, None, adaptive=None)
        return {found.rescale_cooldown_s, found.resource_stabilization_s}

    assert 12.0 in values({PREFIX + old: "12 s"})
    assert 7.0 in values({PREFIX + old: "12 s", PREFIX + new: "7 s"})


@pytest.mark.parametrize(
    ("config", "job", "adaptive"),
    [
        ({}, None, False),
        ({"jobmanager.scheduler": "Adaptive"}, None, True),
        ({"jobmanager.scheduler": "adaptive", "scheduler-mode": "reactive"}, True, False),
        ({}, True, True),
        (None, None, True),
        (None, False, False),
    ],
)
def test_who_can_change_parallelism_in_place(
    config: dict[str, str] | None,
    job: bool | None,  # noqa: FBT001 -- a column of the table above
    adaptive: bool,  # noqa: FBT001
) -> None:
    """The job's word counts before the configuration's; reactive mode takes no orders; unknown is worth a try."""
    assert settings_of(config, None, adaptive=job).adaptive is adaptive


def test_unreadable_or_missing_settings_are_flinks_defaults() -> None:
    """A value that is not understood must not stop the job from being observed."""
    assert settings_of({"metrics.fetcher.update-interval": "soon"}, None, adaptive=True) == EngineSettings()


def test_no_periodic_checkpoints() -> None:
    """Flink writes that as the largest long."""
    assert read_checkpoint_interval({"interval": 2**63 - 1}) is None
