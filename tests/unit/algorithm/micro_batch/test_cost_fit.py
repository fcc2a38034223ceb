"""What batches cost, learnt from made-up batches whose costs are known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from headgate.algorithm.micro_batch.fit import LEAST, CostFit, QueryCosts
from headgate.model.micro_batch import MicroBatch, StageWork
from headgate.testing.builders import at

ROW_MS, TASKS_MS, BATCH_MS = 4.0, 80.0, 300.0
TASKS = 8


def batch(rows: int, *, cores: int = 2, noise: float = 1.0, waited_ms: float = 0.0) -> MicroBatch:
    """Make a batch: its task time times the noise, and so long waited for other queries' tasks."""
    task_ms = (TASKS_MS + ROW_MS * rows) * noise
    running = task_ms * math.ceil(TASKS / cores) / TASKS + waited_ms
    return MicroBatch(
        query="orders",
        run_id="r1",
        batch_id=0,
        started_at=at(0),
        duration=timedelta(milliseconds=running + BATCH_MS),
        rows=rows,
        cores=cores,
        stages=(StageWork(tasks=TASKS, task_time=timedelta(milliseconds=task_ms)),),
        lag=0.0,
        phases={"addBatch": timedelta(milliseconds=running + BATCH_MS / 3)},
    )


def learnt(batches: Iterable[MicroBatch]) -> QueryCosts:
    """Learn from batches, oldest first."""
    fit = CostFit()
    for each in batches:
        fit = fit.noting(each)
    assert fit.costs is not None
    return fit.costs


def noisy(rows: Iterable[int], *, seed: int = 0) -> list[MicroBatch]:
    """Make batches whose task times differ by a twentieth."""
    random = Random(seed)  # noqa: S311 - noise, not secrets
    return [batch(each, noise=random.gauss(1, 0.05)) for each in rows]


@pytest.mark.parametrize("seed", range(5))
def test_what_a_row_costs_and_what_a_batch_costs_are_told_apart(seed: int) -> None:
    """However small the batches: a naive cost per row would be 4.8 ms at 100 rows."""
    random = Random(seed)  # noqa: S311 - noise, not secrets
    costs = learnt(noisy([random.randint(50, 800) for _ in range(40)], seed=seed))
    assert costs.stages[0].row_us == pytest.approx(4000, abs=400)
    assert costs.stages[0].row_error_us < 800
    assert costs.overhead_ms == pytest.approx(BATCH_MS, abs=5)


def test_cores_and_tasks_may_change_meanwhile() -> None:
    """Task time does not depend on them, and what waves take is taken off."""
    costs = learnt(batch(100 + 17 * number, cores=1 + number % 4) for number in range(30))
    assert costs.stages[0].row_us == pytest.approx(4000, rel=0.05)
    assert costs.overhead_ms == pytest.approx(BATCH_MS, abs=1)


def test_one_slow_batch_ruins_nothing() -> None:
    """Garbage collection, or a straggler: five times the task time."""
    batches = noisy([100 + 20 * number for number in range(20)])
    slow = batch(300, noise=5.0)
    clean, spoilt = learnt(batches), learnt([*batches[:15], slow, *batches[15:]])
    assert spoilt.stages[0].row_us == pytest.approx(clean.stages[0].row_us, rel=0.1)
    assert spoilt.overhead_ms == pytest.approx(clean.overhead_ms, rel=0.05)


def test_waiting_for_other_queries_is_no_overhead() -> None:
    """Half of the batches find the cores taken for a second or more."""
    batches = [batch(100 + 20 * n, waited_ms=1000.0 + 50 * n if n % 2 else 0.0) for n in range(30)]
    assert learnt(batches).overhead_ms == pytest.approx(BATCH_MS, rel=0.05)


def test_a_warming_batch_says_nothing() -> None:
    """Not even a first one is believed."""
    fit = CostFit().noting(replace(batch(400, noise=9.0), warming=True))
    assert fit.costs is None
    assert fit == CostFit()


def test_an_empty_batch_tells_of_the_overhead_only() -> None:
    """It may run as one task, or as none."""
    empty = replace(batch(0), duration=timedelta(milliseconds=BATCH_MS), stages=(), phases={})
    full = noisy([100 + 20 * number for number in range(20)])
    assert CostFit().noting(empty).costs is None
    with_empty = learnt([*full, *[empty] * 10])
    assert with_empty.stages == learnt(full).stages
    assert with_empty.overhead_ms == pytest.approx(BATCH_MS, rel=0.02)


def test_constant_load_is_enough_in_the_end_and_not_at_once() -> None:
    """All batches alike: a row costs no more than all of the task time, and the interval says how little is known."""
    assert math.isinf(learnt([batch(400)] * 2).stages[0].row_error_us)
    assert math.isinf(learnt([batch(400)] * (LEAST - 1)).overhead_error_ms)
    stage = learnt([batch(400)] * 40).stages[0]
    naive_us = 1000 * (TASKS_MS + ROW_MS * 400) / 400
    assert 0 < stage.row_us <= naive_us * 1.001
    assert naive_us / 4 < stage.row_error_us < naive_us
    assert stage.row_us * 400 / 1000 + stage.overhead_ms == pytest.approx(TASKS_MS + ROW_MS * 400, rel=0.01)


def test_costs_are_never_negative() -> None:
    """Batches that got cheaper with their rows, and one that was shorter than its tasks."""
    falling = learnt([batch(100 * n, noise=30.0 / n**2) for n in range(1, 21)])
    assert falling.stages[0].row_us >= 0
    assert falling.stages[0].overhead_ms >= 0
    short = [replace(batch(100 + n), duration=timedelta(milliseconds=1), phases={}) for n in range(10)]
    assert learnt(short).overhead_ms == 0


def test_old_batches_are_forgotten() -> None:
    """Code was changed: rows cost half of what they did."""
    before = [batch(100 + 20 * n) for n in range(40)]
    after = [batch(100 + 20 * (n % 40), noise=0.5) for n in range(120)]
    assert learnt([*before, *after]).stages[0].row_us == pytest.approx(2000, rel=0.05)


def test_a_small_batch_of_few_tasks_does_not_tell_how_the_next_is_cut() -> None:
    """A file source, or adaptive execution, cuts by size."""
    small = replace(batch(10), stages=(StageWork(tasks=2, task_time=timedelta(milliseconds=120)),))
    assert learnt([*noisy([400] * 59), small]).stages[0].tasks == TASKS


def test_empty_batches_push_no_full_one_out() -> None:
    """What a row costs is remembered through a quiet night."""
    fit = CostFit()
    for each in [*noisy([100, 200, 300, 400, 500, 600]), *[replace(batch(0), stages=())] * 300]:
        fit = fit.noting(each)
    assert fit.costs is not None
    assert sum(each.rows > 0 for each in fit.batches) == 6
