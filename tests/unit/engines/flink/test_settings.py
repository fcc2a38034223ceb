"""The cluster's settings that bound a rescale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headgate.engines.flink.settings import read_checkpoint_interval, read_config, settings_of
from headgate.engines.flink.workers import TaskManagerSize
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
        slots_per_task_manager_known=False,
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


@pytest.mark.parametrize(("config", "idle_s"), [({"slot.idle.timeout": "2 s"}, 2.0), ({}, 50.0), (None, 50.0)])
def test_how_long_a_slot_is_kept_for_the_job_that_let_go_of_it(config: dict[str, str] | None, idle_s: float) -> None:
    """Flink's default is 50 s."""
    assert settings_of(config, None, adaptive=None).slot_idle_s == idle_s


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


def test_the_size_of_a_task_manager_is_what_is_written_of_it() -> None:
    """Its own word counts where nothing is written; its machine's cores say nothing about it."""
    reported = TaskManagerSize(slots=4, memory_bytes=800)
    silent = settings_of({}, None, adaptive=None, size=reported)
    assert (silent.slots_per_task_manager, silent.task_manager_cpus, silent.task_manager_memory_bytes) == (4, None, 800)
    written = settings_of(
        {
            "taskmanager.numberOfTaskSlots": "2",
            "taskmanager.memory.process.size": "4g",
            "kubernetes.taskmanager.cpu.amount": "-1.0",
            "taskmanager.cpu.cores": "1.5",
        },
        None,
        adaptive=None,
        size=reported,
    )
    assert (written.slots_per_task_manager, written.task_manager_cpus) == (2, 1.5)
    assert written.task_manager_memory_bytes == 4 * 2**30


def test_memory_settings_are_kept_as_they_are_written() -> None:
    """Those of the TaskManager alone."""
    memory = {"taskmanager.memory.managed.fraction": "0.2", "taskmanager.network.memory.buffers-per-channel": "4"}
    found = settings_of({**memory, "jobmanager.memory.process.size": "1g"}, None, adaptive=None)
    assert found.memory == memory
    assert found.task_manager_memory_bytes is None


@pytest.mark.parametrize(
    "key", ["taskmanager.numberOfTaskSlots", "taskmanager.memory.process.size", "kubernetes.taskmanager.cpu"]
)
def test_an_unreadable_size_counts_as_not_written(key: str) -> None:
    """A typing error must not stop the job from being observed."""
    found = settings_of({key: "plenty"}, None, adaptive=None, size=TaskManagerSize(slots=4, memory_bytes=800))
    assert (found.slots_per_task_manager, found.task_manager_cpus, found.task_manager_memory_bytes) == (4, None, 800)


def test_unreadable_or_missing_settings_are_flinks_defaults() -> None:
    """A value that is not understood must not stop the job from being observed."""
    assert settings_of({"metrics.fetcher.update-interval": "soon"}, None, adaptive=True) == EngineSettings(
        slots_per_task_manager_known=False
    )


def test_no_periodic_checkpoints() -> None:
    """Flink writes that as the largest long."""
    assert read_checkpoint_interval({"interval": 2**63 - 1}) is None


@pytest.mark.parametrize(("mode", "reactive"), [("reactive", True), ("REACTIVE", True), ("", False)])
def test_a_cluster_in_flinks_own_reactive_mode_takes_no_orders(mode: str, *, reactive: bool) -> None:
    """Whatever its scheduler is called."""
    found = settings_of({"scheduler-mode": mode, "jobmanager.scheduler": "adaptive"}, None, adaptive=True)
    assert (found.reactive, found.adaptive) == (reactive, not reactive)
