"""When the executors of an application last changed."""

from __future__ import annotations

from headgate.engines.spark.application import Executors
from headgate.engines.spark.attached.jvm import since
from headgate.testing.builders import at

BEFORE = Executors(ids=("0", "1"), cores_each=2, changed_at=at(10))


def test_the_books_tell_when_one_came_or_was_lost() -> None:
    """Also the first time that anybody looks."""
    assert since(("0",), at(5), None, at(60)) == at(5)
    assert since(("0", "1", "2"), at(50), BEFORE, at(60)) == at(50)


def test_one_that_is_told_to_go_goes_when_that_is_seen() -> None:
    """The books still have it: it has work to finish."""
    assert since(("0",), at(10), BEFORE, at(60)) == at(60)


def test_without_a_change_the_instant_stays() -> None:
    """Whatever an executor that has long been gone does to the books."""
    assert since(("0", "1"), at(50), BEFORE, at(60)) == at(10)


def test_cores_are_counted_in_tasks() -> None:
    """A task may take more than one."""
    wide = Executors(ids=("0", "1"), cores_each=4, changed_at=at(0), task_cpus=2)
    assert (wide.cores, wide.slots_each) == (4, 2)
    assert [wide.count_for(cores) for cores in (1, 2, 3, 5)] == [1, 1, 2, 3]
