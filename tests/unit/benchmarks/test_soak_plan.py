"""What the soak does to its jobs, and what its truth says of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from benchmarks.soak_plan import LEVELS, Setting, Spell, Step, Trouble, first_level, plan
from benchmarks.soak_truth import Entry, What, fits, needed, read, written

SETTING = Setting(seed=3, jobs=40, duration_s=900.0, tick_s=10.0)


def test_a_seed_decides_everything() -> None:
    """The same one always gives the same soak, another one another."""
    assert plan(SETTING) == plan(SETTING)
    assert plan(SETTING) != plan(Setting(seed=4, jobs=40, duration_s=900.0, tick_s=10.0))


def test_every_kind_of_trouble_comes() -> None:
    """Among a few dozen jobs already."""
    assert {one.trouble for one in plan(SETTING) if isinstance(one, Spell)} == set(Trouble)


def test_a_job_has_one_trouble_at_a_time() -> None:
    """The end of one must not be the end of another."""
    for job in range(SETTING.jobs):
        spells = [one for one in plan(SETTING) if isinstance(one, Spell) and one.job == job]
        assert all(before.until_s <= after.at_s for before, after in pairwise(spells))


def test_every_step_makes_another_parallelism_necessary() -> None:
    """What fitted before does not fit afterwards."""
    levels = {job: first_level(SETTING, job) for job in range(SETTING.jobs)}
    for step in (one for one in plan(SETTING) if isinstance(one, Step)):
        assert not fits(needed(levels[step.job]), step.level)
        levels[step.job] = step.level


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_needed_fits(level: int) -> None:
    """Half as many of one vertex, or twice as many of all, do not."""
    source, work, sink = needed(level)
    assert fits((source, work, sink), level)
    assert not fits((source, work // 2, sink), level)
    assert not fits((2 * source, 2 * work, 2 * sink), level)


def test_close_to_the_end_of_the_band_either_is_right() -> None:
    """A vertex that is busy for 0.907 of its time need not change, and may."""
    assert fits((6, 12, 3), 8)
    assert not fits((6, 12, 3), 8, slack=-0.02)


def test_a_single_subtask_may_idle() -> None:
    """There is no smaller parallelism."""
    assert fits((1, 2, 1), 1)


def test_a_ledger_reads_as_it_was_written() -> None:
    """In order of time."""
    entries = [Entry(2.5, 1, What.EFFECT, "2 4 1"), Entry(1.0, 0, What.LEVEL, "8")]
    assert read(written(entries)) == entries[::-1]
