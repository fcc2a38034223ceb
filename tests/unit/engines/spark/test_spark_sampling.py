"""From micro-batches to samples, as a story of one application."""

from __future__ import annotations

import math

import pytest
from tests.unit.engines.spark.sampling_story import JOB, READ, SHUFFLE, Story, rows_per_s

from headgate.model.measures import JobMeasure, Measure
from headgate.testing.builders import at


def test_a_query_without_a_batch_is_in_the_graph_without_values() -> None:
    """Nothing is known of it yet."""
    sample = Story().sample(1)
    assert [vertex.id for vertex in sample.topology.vertices] == [READ]
    assert sample.vertices == {}


def test_between_two_triggers_lies_exactly_what_arrived() -> None:
    """However long after its batch a sample is taken: 1000 rows in 10 s are 100 a second."""
    story = Story()
    story.batch(0, rows=1000)
    before = story.vertex(2)
    story.batch(10, rows=1000)
    after = story.vertex(19)
    assert rows_per_s(before, after) == 100


def test_nothing_is_new_until_the_next_batch_has_ended() -> None:
    """A query that waits for its trigger, or works on a batch, has said all it has to say."""
    story = Story()
    story.batch(0)
    assert story.sample(3).vertices
    assert story.sample(6).vertices == {}
    assert story.sample(12, waiting=False).vertices == {}
    assert story.sample(60, waiting=False).vertices == {}


def test_an_idle_query_says_that_nothing_came() -> None:
    """Its triggers find nothing to read: the same counters, measured now, are a rate of zero."""
    story = Story()
    story.batch(0, rows=1000)
    before = story.vertex(3)
    idle, later = story.vertex(25), story.vertex(30)
    assert idle.values[Measure.NUM_RECORDS_IN] == before.values[Measure.NUM_RECORDS_IN]
    assert before.measured_at < idle.measured_at < later.measured_at
    assert rows_per_s(idle, later) == 0


def test_a_batch_that_is_told_twice_counts_once() -> None:
    """A listener and a query that is asked may tell of the same."""
    story = Story()
    story.batch(0)
    story.batches -= 1
    story.batch(0)
    assert story.vertex(3).values[Measure.NUM_RECORDS_IN] == 100


def test_missed_batches_begin_a_new_epoch() -> None:
    """Their rows are not in the counter: a rate across the gap would be too low."""
    story = Story()
    story.batch(0)
    before = story.vertex(3)
    story.batches += 2
    story.batch(30)
    assert story.vertex(33).epoch == before.epoch + 1


def test_who_begins_to_watch_begins_an_epoch() -> None:
    """The log may hold what was counted before Headgate restarted: nobody compares with it."""
    first, second = Story(), Story()
    first.batch(0)
    second.batch(5)
    epochs = [story.vertex(8).epoch for story in (first, second)]
    assert epochs[0] != epochs[1]
    assert all(0 < epoch < 2**31 for epoch in epochs)


def test_a_restarted_query_counts_on_in_a_new_epoch() -> None:
    """No rate is ever negative, and none is taken across the restart."""
    story = Story()
    story.batch(0)
    before = story.vertex(3)
    story.restart()
    assert story.sample(8).vertices == {}
    story.batch(10)
    after = story.vertex(13)
    assert after.epoch > before.epoch
    assert after.values[Measure.NUM_RECORDS_IN] == 200


def test_what_concerns_the_query_stands_on_its_first_stage() -> None:
    """Each stage has its own work."""
    story = Story()
    story.batch(0, rows=100, tasks=(8, 4))
    vertices = story.sample(3).vertices
    first = {Measure.LAG, Measure.LAG_ORIGIN, Measure.BATCH_DURATION, Measure.BATCH_INTERVAL, Measure.NUM_RECORDS_IN}
    assert first <= vertices[READ].values.keys()
    assert not first & vertices[SHUFFLE].values.keys()
    assert vertices[READ].values[Measure.LAG] == 7
    assert vertices[SHUFFLE].values[Measure.ACCUMULATED_BUSY_TIME] == 1000
    assert vertices[READ].values[Measure.LOAD] == 0.2


def test_costs_come_with_what_they_were_learnt_from() -> None:
    """The width of their intervals is infinite until enough was seen."""
    story = Story()
    for number in range(3):
        story.batch(10 * number, rows=100 + number)
    early = story.vertex(23).values
    for number in range(3, 30):
        story.batch(10 * number, rows=100 + 40 * (number % 7))
    late = story.vertex(293).values
    assert math.isinf(early[Measure.ROW_COST_ERROR])
    assert math.isfinite(late[Measure.ROW_COST_ERROR])
    assert late[Measure.TASKS] == 8
    assert late[Measure.ROW_COST] == pytest.approx(10_000, rel=0.1)


def test_one_odd_batch_does_not_change_the_graph() -> None:
    """Adaptive execution leaves a stage out now and then; three in a row are how the query runs now."""
    story = Story()
    story.batch(0, tasks=(8, 4))
    story.batch(10, tasks=(8,))
    story.batch(20, tasks=(8, 4))
    assert len(story.sample(23).topology.vertices) == 2
    for number in range(3):
        story.batch(30 + 10 * number, tasks=(8,))
    assert len(story.sample(53).topology.vertices) == 1


def test_an_empty_batch_says_nothing_of_the_stages() -> None:
    """The first batch of many queries has no rows, and its own stages."""
    story = Story()
    story.batch(0, rows=0, tasks=(1, 4, 1))
    assert len(story.sample(3).topology.vertices) == 1
    story.batch(10, tasks=(8, 4))
    assert len(story.sample(13).topology.vertices) == 2


def test_stabilization_counts_from_the_first_batch_on_new_executors() -> None:
    """While it is under way there is nothing stable; once it has ended, its end counts."""
    story = Story()
    story.batch(0)
    story.batch(10)
    story.executors_become(4, 13)
    assert story.sample(14).running_since == at(13)
    assert story.sample(22, waiting=False).running_since == at(22)
    story.batch(20, seconds=6.0)
    assert story.sample(29).running_since == at(26)
    story.batch(30)
    assert story.sample(40).running_since == at(26)


def test_a_change_costs_what_its_slow_batches_took_too_long() -> None:
    """The batch that it fell into and the next one, over what they should have taken; later ones are as usual."""
    story = Story()
    for number in range(40):
        story.batch(10 * number, rows=100 + 50 * (number % 5))
    assert JobMeasure.LAST_DOWNTIME not in story.sample(393).values
    story.executors_become(3, 401)
    story.batch(400, rows=100, seconds=5.0)
    story.batch(410, rows=100, seconds=4.0)
    lost = story.sample(415).values[JobMeasure.LAST_DOWNTIME]
    assert 5.0 < lost < 7.0
    story.batch(420, rows=100, seconds=9.0)
    assert story.sample(430).values[JobMeasure.LAST_DOWNTIME] == lost


def test_slow_batches_of_a_change_teach_nothing() -> None:
    """Costs stay what they were."""
    story = Story()
    for number in range(30):
        story.batch(10 * number, rows=100 + 50 * (number % 5))
    before = story.vertex(293).values[Measure.BATCH_OVERHEAD]
    for number in range(10):
        story.executors_become(3 + number % 2, 301 + 10 * number)
        story.batch(300 + 10 * number, rows=100, seconds=9.0)
    assert story.vertex(399).values[Measure.BATCH_OVERHEAD] == before


def test_the_application_tells_what_it_is() -> None:
    """Its state, its cores, and how often news can be had."""
    story = Story()
    story.batch(0, seconds=14.0)
    sample = story.sample(15)
    assert sample.settings.shared_workers
    assert sample.settings.adaptive
    assert sample.settings.metric_refresh_s == 14
    assert sample.settings.slots_per_task_manager == 1
    assert (sample.slots_total, sample.slots_used) == (2, 2)
    assert sample.values[JobMeasure.STATE_SIZE] == 500


def test_of_a_query_that_has_ended_nothing_is_told() -> None:
    """Neither in the graph nor in the values."""
    story = Story()
    story.batch(0)
    sample = story.sampler.sample(JOB, at(3), job_id="app-1", executors=story.executors, queries=[])
    assert (sample.topology.vertices, sample.vertices, sample.values) == ((), {}, {})


def test_forgetting_begins_anew() -> None:
    """No counter is left."""
    story = Story()
    story.batch(0)
    story.sampler.forget()
    assert story.sample(3).vertices == {}


def test_the_clock_of_a_vertex_never_goes_back() -> None:
    """Also when an idle query's trigger comes just before it is asked again."""
    story = Story()
    story.batch(0)
    idle = story.vertex(25)
    story.batch(24.9)
    assert story.vertex(28).measured_at > idle.measured_at


def test_a_query_that_never_had_a_batch_is_idle_after_a_while() -> None:
    """Its topic is quiet: nothing came and nothing waits, which must hold up no other query."""
    story = Story()
    assert story.sample(5).vertices == {}
    assert story.sample(30, waiting=False).vertices == {}
    values = story.vertex(30).values
    assert values[Measure.NUM_RECORDS_IN] == values[Measure.LAG] == values[Measure.LOAD] == 0


def test_a_restarted_query_with_nothing_new_is_idle() -> None:
    """Its counters stand still, and nothing waits."""
    story = Story()
    story.batch(0)
    before = story.vertex(3)
    story.restart()
    after = story.vertex(40)
    assert rows_per_s(before, after) == 0
    assert after.values[Measure.LAG] == 0


def test_a_late_report_of_an_idle_query_begins_a_new_epoch() -> None:
    """Its rows did not come within the instant between the two labels."""
    story = Story()
    story.batch(0)
    story.vertex(3)
    idle = story.vertex(25)
    story.batch(10)
    late = story.vertex(27)
    assert late.epoch > idle.epoch
    assert late.measured_at == at(10)


def test_the_first_batch_on_new_executors_is_not_waited_for_without_end() -> None:
    """Two usual periods: a huge one says by itself that more is needed, and must not stop the decision that it is."""
    story = Story()
    story.batch(0)
    story.executors_become(4, 20)
    assert story.sample(30, waiting=False).running_since == at(30)
    assert story.sample(500, waiting=False).running_since == at(40)


def test_a_long_batch_under_way_makes_new_values_rare() -> None:
    """Else what is known would count as too old just when cores are missing."""
    story = Story()
    story.batch(0)
    assert story.sample(40, waiting=False).settings.metric_refresh_s == 38


def test_a_batch_that_hangs_makes_what_is_known_stale() -> None:
    """Nobody decides for hours by what was true before it."""
    story = Story()
    story.batch(0)
    assert story.sample(10_000, waiting=False).settings.metric_refresh_s == 60
