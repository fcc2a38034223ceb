"""The answers about a whole cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headgate.engines.flink.overview import effective_status, read_jobs, read_slots, read_values
from headgate.model.measures import JobStatus

Recorded = Callable[[str], Any]


def test_job_list_gives_id_name_status_and_start(recorded: Recorded) -> None:
    """The recorded list holds a canceled job and a running one."""
    canceled, running = read_jobs(recorded("jobs_overview"))
    assert (canceled.name, canceled.status) == ("B", JobStatus.CANCELED)
    assert (running.name, running.status) == ("A", JobStatus.RUNNING)
    assert running.job_id == "91b42d3a9f4b848473c322965388e104"
    assert running.started_at_ms == 1795172970628


@pytest.mark.parametrize(
    ("state", "tasks", "status"),
    [
        ("RUNNING", {"total": 3, "running": 3}, JobStatus.RUNNING),
        ("RUNNING", {"total": 3, "running": 2, "finished": 1}, JobStatus.RUNNING),
        ("RUNNING", {"total": 3, "running": 2, "initializing": 1}, JobStatus.STARTING),
        ("RUNNING", {"running": 2, "created": 1}, JobStatus.STARTING),
        ("CREATED", {"total": 3}, JobStatus.STARTING),
        ("RESTARTING", {"total": 3, "running": 3}, JobStatus.RESTARTING),
        ("SUSPENDED", {"total": 3}, JobStatus.OTHER),
    ],
)
def test_a_job_runs_only_when_all_its_tasks_do(state: str, tasks: dict[str, int], status: JobStatus) -> None:
    """Flink says RUNNING as soon as it has begun to deploy."""
    assert effective_status(state, tasks) is status


def test_slots_are_read(recorded: Recorded) -> None:
    """Total and free slots stand in the cluster's overview."""
    slots = read_slots(recorded("overview"))
    assert (slots.total, slots.free) == (6, 4)


def test_the_text_nan_is_unknown(recorded: Recorded) -> None:
    """Flink writes NaN as a text; it is no number and no failure."""
    values = read_values([*recorded("subtask_values"), {"id": "0.accumulateBusyTimeMs", "value": "NaN"}])
    assert values["0.numRecordsIn"] == 16152.0
    assert values["0.accumulateBusyTimeMs"] is None
