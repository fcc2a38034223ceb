"""Scrapes are late, miss a process, outlive tasks that have ended, and mix two runs of a job: never in a sample."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from tests.unit.engines.prometheus.conftest import (
    SCRAPE_S,
    SINK,
    SOURCE,
    WORK,
    Scene,
    grown,
    without,
    without_subtask,
)

from headgate.engines.flink.numbers import instant
from headgate.model.measures import Measure
from headgate.testing.fake_prometheus import Scraped


async def test_what_was_scraped_before_a_restart_is_none_of_the_new_run(scene: Scene) -> None:
    """Flink says at once that the job runs again; its series still end with the old attempt."""
    before = await scene.sample()
    scene.wait(5)
    scene.scrape()
    scene.job.advance_to(scene.flink.now_ms)
    scene.job.fail("java.lang.Exception: out of luck")
    scene.wait(2)
    assert (await scene.sample()).vertices == {}
    scene.wait(8)
    scene.scrape()
    after = await scene.sample()
    assert after.vertices[WORK].epoch > before.vertices[WORK].epoch
    assert after.vertices[WORK].values[Measure.NUM_RECORDS_IN] == pytest.approx(6000)
    again = await scene.next()
    assert grown(after.vertices[WORK], again.vertices[WORK])["records_in"] == pytest.approx(600)


async def test_the_first_look_is_not_fooled_either(scene: Scene) -> None:
    """A collector that has just begun remembers no attempt: it sees that the tasks would be older than their job."""
    scene.job.advance_to(scene.flink.now_ms)
    scene.job.fail("java.lang.Exception: out of luck")
    scene.wait(2)
    assert (await scene.sample()).vertices == {}


@pytest.mark.parametrize("parallelism", [1, 4])
async def test_another_parallelism_counts_once_all_of_it_was_scraped(scene: Scene, parallelism: int) -> None:
    """Neither the old subtasks that linger nor a part of the new ones are taken for the whole."""
    before = await scene.sample()
    scene.job.advance_to(scene.flink.now_ms)
    scene.job[WORK].parallelism = parallelism
    scene.job.fail("a rescale restarts all tasks")
    scene.wait(1)
    assert WORK not in (await scene.sample()).vertices
    if parallelism > 1:
        scene.wait(5)
        scene.scrape(without_subtask("3"))
        assert WORK not in (await scene.sample()).vertices
    first = await scene.next()
    assert first.topology.parallelism[WORK] == parallelism
    assert first.vertices[WORK].epoch > before.vertices[WORK].epoch
    second = await scene.next()
    expected = min(600, 500 * parallelism)
    assert grown(first.vertices[WORK], second.vertices[WORK])["records_in"] == pytest.approx(expected)


async def test_new_subtasks_before_flink_tells_of_them_are_waited_for(scene: Scene) -> None:
    """Flink's answer may be some seconds old: subtasks that it does not know yet were scraped already."""
    await scene.sample()
    scene.wait(10)
    extra = [each for each in scene.lines() if each.labels.get("task_id") == WORK]
    scene.scrape(lambda page: [*page, *(_of_subtask(each, "2") for each in extra)])
    sample = await scene.sample()
    assert WORK not in sample.vertices
    assert sample.vertices.keys() == {SOURCE, SINK}


async def test_a_subtask_that_starts_anew_begins_an_epoch(scene: Scene) -> None:
    """Though the sum over both still grows."""
    scene.wait(60)
    scene.scrape()
    before = await scene.sample()
    scene.wait(1)
    scene.job.advance_to(scene.flink.now_ms)
    scene.job[WORK].restart_subtask(1)
    after = await scene.next(60)
    assert after.vertices[WORK].epoch == before.vertices[WORK].epoch + 1
    assert after.vertices[SOURCE].epoch == before.vertices[SOURCE].epoch
    assert Measure.LOAD not in after.vertices[WORK].values


async def test_a_reset_shows_also_without_the_labels_of_attempts(scene: Scene) -> None:
    """Some drop them, since each restart makes new series; even a reset that was caught up with is seen between."""
    bare = without("task_attempt_id", "task_attempt_num")
    scene.wait(40)
    scene.scrape(bare)
    before = await scene.sample()
    scene.job[WORK].restart_subtask(0)
    scene.wait(5)
    scene.scrape(bare)
    scene.job.rate = 1000
    scene.wait(25)
    scene.job.advance_to(scene.flink.now_ms)
    scene.job[WORK].lost.clear()
    scene.scrape(bare)
    after = await scene.sample()
    assert after.vertices[WORK].values[Measure.NUM_RECORDS_IN] > before.vertices[WORK].values[Measure.NUM_RECORDS_IN]
    assert after.vertices[WORK].epoch == before.vertices[WORK].epoch + 1


async def test_a_process_that_was_not_scraped_holds_its_vertices_back(scene: Scene) -> None:
    """A sum over some subtasks only would look like a slump; afterwards the difference spans both scrapes."""
    before = await scene.sample()
    scene.wait(10)
    scene.scrape(without_subtask("1"))
    sample = await scene.sample()
    assert sample.vertices.keys() == {SOURCE, SINK}
    after = await scene.next()
    assert grown(before.vertices[WORK], after.vertices[WORK])["records_in"] == pytest.approx(600)
    assert after.vertices[WORK].measured_at - before.vertices[WORK].measured_at == timedelta(seconds=20)


async def test_processes_are_scraped_at_different_times(scene: Scene) -> None:
    """Each subtask counts from its own scrape to its own scrape; the sample is dated by their mean."""
    await scene.sample()
    samples = []
    for _ in range(2):
        scene.wait(6)
        scene.scrape(without_subtask("1"))
        scene.wait(4)
        scene.scrape(without_subtask("0"))
        samples.append((await scene.sample()).vertices[WORK])
    assert samples[1].measured_at == instant(scene.flink.now_ms) - timedelta(seconds=2)
    assert grown(*samples)["records_in"] == pytest.approx(600)


async def test_a_scrape_that_came_between_two_queries_is_left_for_later(scene: Scene) -> None:
    """What is counted together is of one scrape, also where some metrics are known of a later one."""
    await scene.sample()
    scene.wait(10)
    scene.scrape()
    newest = scene.flink.now_ms
    scene.wait(1)
    scene.scrape(lambda page: [each for each in page if not each.labels["__name__"].endswith("accumulateBusyTimeMs")])
    assert (await scene.sample()).vertices[WORK].measured_at == instant(newest)


async def test_series_that_are_no_longer_scraped_are_not_held_for_the_present(scene: Scene) -> None:
    """Prometheus would give the last value of an instant for five minutes more."""
    await scene.sample()
    for _ in range(3):
        scene.wait(SCRAPE_S)
        scene.scrape(without_subtask("0"))
    assert (await scene.sample()).vertices == {}


async def test_what_is_no_number_is_unknown(scene: Scene) -> None:
    """A source of the old kind has no busy time, for which Flink says NaN: the rest of it still counts."""
    scene.job[SOURCE].has_busy_time = False
    busy = [each for each in scene.lines("numRecordsIn") if each.labels["task_id"] == SOURCE]
    name = "flink_taskmanager_job_task_accumulateBusyTimeMs"
    nan = [Scraped({**each.labels, "__name__": name}, math.nan) for each in busy]
    scene.wait(40)
    scene.scrape(lambda page: [*page, *nan])
    values = (await scene.sample()).vertices[SOURCE].values
    assert Measure.ACCUMULATED_BUSY_TIME not in values
    assert Measure.NUM_RECORDS_IN in values


async def test_replicas_of_a_prometheus_complete_each_other(scene: Scene) -> None:
    """Both scrape the same processes at times of their own: nothing counts twice."""

    def replica(name: str) -> list[Scraped]:
        return [Scraped({**each.labels, "replica": name}, each.value) for each in scene.lines()]

    before = await scene.sample()
    scene.wait(8)
    scene.scrape(lambda _: replica("a"))
    scene.wait(2)
    scene.scrape(lambda _: replica("b"))
    after = await scene.sample()
    assert grown(before.vertices[WORK], after.vertices[WORK])["records_in"] == pytest.approx(600)


async def test_a_task_that_is_starting_tells_no_times_yet(scene: Scene) -> None:
    """For a moment its busy time is NaN although it counts; what it tells then is no beginning of a difference."""
    name = "accumulateBusyTimeMs"
    scene.wait(40)
    scene.scrape(
        lambda page: [
            Scraped(each.labels, math.nan if each.labels["__name__"].endswith(name) else each.value) for each in page
        ]
    )
    starting = (await scene.sample()).vertices[WORK]
    assert Measure.ACCUMULATED_BUSY_TIME not in starting.values
    running = (await scene.next(40)).vertices[WORK]
    assert running.epoch == starting.epoch + 1
    assert running.values[Measure.ACCUMULATED_BUSY_TIME] > 0


def _of_subtask(line: Scraped, index: str) -> Scraped:
    return Scraped({**line.labels, "subtask_index": index, "task_attempt_id": f"new_{index}"}, line.value)
