"""The comparison on Spark: what is read off one run."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from benchmarks.spark_load import Load
from benchmarks.spark_policies_figures import (
    Batch,
    Cores,
    Run,
    changes,
    core_s,
    drained_s,
    duration_s,
    failed_tasks,
    longest_delay_s,
    most_lag_rows,
    settled_p95_s,
    start_ups_s,
)

LOAD = Load(seed=1, duration_s=600)
UP_S, DOWN_S = LOAD.steps


def read_until(end_s: float, *, took_s: float = 1.0, behind_s: float | None = None) -> Batch:
    """Return a batch that ended then; it read all that had come when it was triggered, or by so long before its end."""
    position = round(LOAD.offered(end_s - (took_s if behind_s is None else behind_s)))
    return Batch(at_s=end_s - took_s, took_s=took_s, rows=100, position=position)


def run_of(batches: list[Batch], cores: list[Cores] | None = None) -> Run:
    """Return a run."""
    return Run(arm="headgate", load=LOAD, batches=batches, cores=cores or [Cores(0, 2, 2, 0)])


def steady() -> list[Batch]:
    """Return batches of one second every two seconds that read all there is."""
    return [read_until(end_s) for end_s in range(3, 600, 2)]


def test_lag_is_what_had_come_and_was_not_read_when_a_batch_ended() -> None:
    """The rows of one second for a batch that takes one."""
    run = run_of([read_until(101), read_until(103, behind_s=5), read_until(105)])
    assert most_lag_rows(run) == pytest.approx(LOAD.offered(103) - LOAD.offered(98), abs=1)


def test_the_longest_delay_is_of_the_oldest_row_of_a_batch() -> None:
    """It came right after what the batch before had read."""
    run = run_of([read_until(101), read_until(108, took_s=2)])
    assert longest_delay_s(run) == pytest.approx(108 - 100, abs=0.01)


def test_batches_soon_after_a_step_do_not_count_as_settled() -> None:
    """A slow one then is in the 95th percentile of all, and not in that of the settled ones."""
    slow = [read_until(UP_S + number, took_s=8.0) for number in range(10, 80)]
    run = run_of([*steady(), *slow])
    assert duration_s(run, 95) == 8.0
    assert settled_p95_s(run) == 1.0
    assert duration_s(run, 50) == 1.0


def test_a_backlog_is_drained_when_the_next_batch_can_take_all() -> None:
    """The first batch after the last late one says so."""
    late = {UP_S + 10: 6.0, UP_S + 20: 9.0, UP_S + 30: 5.0}
    batches = [read_until(end_s, behind_s=late.get(end_s)) for end_s in range(UP_S - 20, UP_S + 200, 10)]
    assert drained_s(run_of(batches)) == 40


def test_no_step_leaves_a_backlog_where_all_batches_read_all() -> None:
    """Then nothing has to drain."""
    assert drained_s(run_of(steady())) == 0


def test_a_backlog_that_never_drains_lasts_until_the_end() -> None:
    """The step up is long over then."""
    behind = [read_until(end_s, behind_s=30.0) for end_s in range(UP_S + 2, 600, 2)]
    assert drained_s(run_of(behind)) == 600 - UP_S


def test_core_seconds_count_what_is_paid_until_it_changes() -> None:
    """Starting executors too; what comes after the load's end does not count."""
    cores = [Cores(0, 2, 2, 0), Cores(100, 4, 2, 0), Cores(110, 4, 4, 0), Cores(500, 1, 1, 0), Cores(650, 0, 0, 0)]
    assert core_s(run_of(steady(), cores)) == 2 * 100 + 4 * 400 + 1 * 100


def test_executors_that_go_one_after_the_other_are_one_change() -> None:
    """Those that come back at once are another one."""
    paid = [(0, 4), (100, 3), (102, 2), (104, 1), (105, 2), (300, 3)]
    assert changes(run_of(steady(), [Cores(at_s, count, count, 0) for at_s, count in paid])) == 3


def test_start_up_lasts_from_being_paid_until_the_driver_knows_all() -> None:
    """Executors that leave, or that never come, have none."""
    cores = [Cores(0, 1, 1, 0), Cores(10, 3, 1, 0), Cores(14, 3, 2, 0), Cores(17, 3, 3, 0), Cores(50, 1, 1, 0)]
    assert start_ups_s(run_of(steady(), [*cores, Cores(90, 4, 1, 0)])) == [7]


def test_failed_tasks_are_those_since_the_load_began() -> None:
    """What failed during the lead is not counted."""
    assert failed_tasks(run_of(steady(), [Cores(0, 2, 2, 3), Cores(50, 2, 2, 5)])) == 2


def test_what_came_before_or_after_the_load_is_left_out() -> None:
    """A raw run has the lead's batches as well."""
    raw = {
        "arm": "mean",
        "load": asdict(LOAD),
        "batches": [[-10.0, 1.0, 50, 50], [10.0, 1.0, 50, 100], [601.0, 1.0, 50, 150]],
        "cores": [[0.0, 2, 2, 0], [601.0, 0, 2, 0]],
    }
    run = Run.told(raw)
    assert [batch.position for batch in run.batches] == [100]
    assert [cores.paid for cores in run.cores] == [2]
