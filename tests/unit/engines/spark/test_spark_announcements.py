"""From batches that have begun to samples: the load is known before the work is done."""

from __future__ import annotations

from tests.unit.engines.spark.sampling_story import Story, rows_per_s

from headgate.model.measures import Measure
from headgate.testing.builders import at


def test_a_batch_that_has_begun_tells_what_came() -> None:
    """4000 rows in 10 s are known while they are worked on, which may take minutes; when it has ended, what it cost."""
    story = believed()
    before = story.vertex(12)
    story.begin(20, rows=4000)
    during = story.vertex(21, waiting=False)
    assert rows_per_s(before, during) == 400
    story.batch(20, rows=4000, seconds=35)
    after = story.vertex(56)
    assert after.measured_at == during.measured_at
    assert after.values[Measure.NUM_RECORDS_IN] == during.values[Measure.NUM_RECORDS_IN]
    assert after.values[Measure.BATCH_DURATION] == 35_000
    assert during.values[Measure.BATCH_DURATION] == 2_000


def test_what_a_begun_batch_leaves_behind_waits() -> None:
    """The lag is that of its plan, not of the batch before."""
    story = believed()
    story.begin(20, rows=500, lag=90.0)
    assert story.vertex(21, waiting=False).values[Measure.LAG] == 90


def test_a_full_batch_leaves_it_open_whether_nothing_waits() -> None:
    """The source may have been held back to the limit: what was known last holds."""
    story = believed(limit=500)
    story.begin(20, rows=500, lag=0.0)
    assert story.vertex(21, waiting=False).values[Measure.LAG] == 7


def test_a_query_is_believed_when_an_announcement_came_true() -> None:
    """Where offsets are no rows, what they promise is not counted."""
    story = Story()
    story.begin(0, rows=200)
    story.batch(0, rows=100)
    story.vertex(3)
    story.begin(10, rows=200)
    assert story.sample(11, waiting=False).vertices == {}


def test_a_begun_batch_of_a_restarted_query_is_not_counted() -> None:
    """It reads again what the run before may have read."""
    story = believed()
    story.vertex(12)
    story.restart()
    story.begin(20, rows=300)
    assert story.sample(21, waiting=False).vertices == {}


def test_a_batch_of_no_rows_proves_nothing() -> None:
    """Where no offset moved any source tells the truth: a batch may only have closed windows."""
    story = Story()
    story.begin(0, rows=0)
    story.batch(0, rows=0)
    story.vertex(3)
    story.begin(10, rows=200)
    assert story.sample(11, waiting=False).vertices == {}


def test_between_two_batches_nothing_has_begun() -> None:
    """A query then tells of the next batch, without rows and with the time of the one before, which nobody saw run."""
    story = believed()
    before = story.vertex(12)
    story.batch(20, rows=1000)
    story.begin(20.1, rows=0)
    after = story.vertex(23)
    assert rows_per_s(before, after) == 100
    assert (after.measured_at, after.epoch) == (at(20), before.epoch)
    story.batch(30, rows=500)
    later = story.vertex(33)
    assert rows_per_s(after, later) == 50


def test_a_trigger_that_finds_nothing_leaves_a_query_idle() -> None:
    """It plans a batch of no rows each time, and does no work."""
    story = believed()
    story.vertex(12)
    story.begin(50, rows=0)
    assert story.vertex(51).values[Measure.LOAD] == 0


def test_batches_that_follow_each_other_at_once_are_believed_too() -> None:
    """The next one has begun when it is told that one has ended."""
    story = Story()
    story.begin(0, rows=100)
    story.begin(10, rows=400, after=1)
    story.batch(0, rows=100, seconds=10.0)
    assert story.vertex(11, waiting=False).values[Measure.NUM_RECORDS_IN] == 500


def test_each_run_of_a_query_has_to_earn_belief() -> None:
    """It may have been started again with other sources."""
    story = believed()
    story.restart()
    story.batch(20)
    story.vertex(23)
    story.begin(30, rows=300)
    assert story.sample(31, waiting=False).vertices == {}


def believed(limit: int | None = None) -> Story:
    """Give a query whose first two batches, from second 0 and 10 on, were as large as announced."""
    story = Story()
    story.limit = limit
    for second in (0, 10):
        story.begin(second, rows=100)
        story.batch(second, rows=100)
    return story
