"""A simulated job that is sick at some parallelisms: how it fails, is started again, and gets well."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from headgate.engines.simulated.cluster import START, SimulatedCluster
from headgate.engines.simulated.collector import SimulatedMetricCollector
from headgate.engines.simulated.failures import Failure, FailureKind
from headgate.engines.simulated.history import SimulatedFailureHistory
from headgate.engines.simulated.job import RunningJob
from headgate.engines.simulated.jobs import SimulatedJobListFetcher
from headgate.engines.simulated.restart import Cause
from headgate.engines.simulated.settings import ClusterSettings, Conditions, RestartSettings
from headgate.engines.simulated.sickness import Sickness, SicknessKind
from headgate.model.measures import JobMeasure, JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.simulate import constant, job, vertex

NETWORK, PRESSURE, FAILING = SicknessKind.NETWORK_MEMORY, SicknessKind.MEMORY_PRESSURE, SicknessKind.FAILING
PIPE = job("pipe", vertex("source", 1000, load=constant(100)), vertex("count", 60, parallelism=4))
SETTINGS = ClusterSettings(
    checkpoint_interval=timedelta(),
    cooldown=timedelta(),
    restart=RestartSettings(
        base=timedelta(seconds=5), retry_delay=timedelta(seconds=4), retry_delay_max=timedelta(seconds=20)
    ),
)


def cluster(what: SicknessKind, *failures: Failure, **sickness: Any) -> SimulatedCluster:
    """Run the pipe, whose `count` has a sickness, on a cluster that restarts in 5 s."""
    sick = Sickness(what=what, vertex="count", **sickness)
    sickly = job("pipe", *PIPE.vertices, sicknesses=(sick,))
    return SimulatedCluster([sickly], conditions=Conditions(settings=SETTINGS), failures=failures)


def rescaled(running: SimulatedCluster, count: int) -> RunningJob:
    """Ask for a parallelism now."""
    found = running.jobs["pipe"]
    found.require({"count": count}, running.now_s)
    return found


async def context(running: SimulatedCluster) -> JobContext:
    """List the only job."""
    fetcher = SimulatedJobListFetcher(running, lambda _: AutoscalerOptions())
    return (await fetcher.fetch()).jobs[0]


def test_without_network_buffers_a_job_fails_for_ever_and_later_each_time() -> None:
    """After 4, 6, 9, 13.5 and 20 s it is started again, which takes 5 s, and fails with Flink's own words."""
    running = cluster(NETWORK, least=8)
    running.advance_to(10)
    sick = rescaled(running, 8)
    running.advance_to(120)
    assert sick.status(running.now_s) is JobStatus.RESTARTING
    apart = [later.at_s - earlier.at_s for earlier, later in pairwise(sick.retries.setbacks)]
    assert apart == pytest.approx([9, 11, 14, 18.5, 25, 25], abs=1)
    assert "Insufficient number of network buffers: required 9, but only 8 available." in sick.retries.setbacks[0].text


def test_a_failing_job_is_started_with_what_was_asked_for_meanwhile() -> None:
    """What is asked for while it is down holds from the next attempt on, and then it runs."""
    running = cluster(NETWORK, least=8)
    sick = rescaled(running, 9)
    running.advance_to(30)
    assert sick.parallelism["count"] == 9
    rescaled(running, 5)
    assert sick.parallelism["count"] == 9
    running.advance_to(60)
    assert sick.parallelism["count"] == 5
    assert sick.status(running.now_s) is JobStatus.RUNNING
    assert sick.tasks["count"].ledger.read > 0


@pytest.mark.parametrize(("count", "sick"), [(2, False), (3, True), (6, True), (7, False)])
def test_a_region_has_two_ends(count: int, *, sick: bool) -> None:
    """At three to six subtasks it never comes up, outside it does."""
    running = cluster(FAILING, least=3, most=6)
    found = rescaled(running, count)
    running.advance_to(150)
    assert (found.status(running.now_s) is not JobStatus.RUNNING) is sick


def test_a_job_may_run_for_a_while_before_it_fails_again() -> None:
    """It restarts in a loop: 30 s of work, then a failure, and so on."""
    running = cluster(FAILING, least=8, after=timedelta(seconds=30), text="java.lang.Exception: no luck")
    sick = rescaled(running, 8)
    running.advance_to(20)
    assert sick.status(running.now_s) is JobStatus.RUNNING
    running.advance_to(150)
    assert len(sick.retries.setbacks) == 3
    assert {each.text for each in sick.retries.setbacks} == {"java.lang.Exception: no luck"}


async def test_on_too_few_heaps_garbage_takes_the_time() -> None:
    """At three subtasks the values are over their thresholds and the job is slow; at four all is well."""
    running = cluster(PRESSURE, most=3)
    collector = SimulatedMetricCollector(running)
    running.advance_to(30)
    well = await collector.update_metrics(await context(running), running.now)
    rescaled(running, 3)
    running.advance_to(60)
    sick = await collector.update_metrics(await context(running), running.now)
    gc, heap = JobMeasure.GC_PRESSURE, JobMeasure.HEAP_MAX_USAGE_RATIO
    assert (well.values[gc] < 0.1, sick.values[gc] > 0.5) == (True, True)
    assert (well.values[heap] < 0.6, sick.values[heap] > 0.95) == (True, True)
    count = running.jobs["pipe"].tasks["count"]
    assert count.tally.records_in / count.tally.run_ms * 1000 < 3 * 60 * 0.5


def test_on_half_as_many_heaps_there_is_no_room_at_all() -> None:
    """Three subtasks are sick, of one and a half or fewer nothing comes up."""
    running = cluster(PRESSURE, most=3)
    sick = rescaled(running, 1)
    running.advance_to(60)
    assert sick.status(running.now_s) is JobStatus.RESTARTING
    assert sick.retries.setbacks[-1].text == "java.lang.OutOfMemoryError: Java heap space"


@pytest.mark.parametrize(
    ("what", "bound", "more"),
    [(NETWORK, {"least": 8}, {"network": 1.5}), (PRESSURE, {"most": 16}, {"heap": 2.5})],
)
def test_more_memory_makes_a_job_well(what: SicknessKind, bound: dict[str, int], more: dict[str, float]) -> None:
    """At the very parallelism at which it was sick."""
    running = cluster(what, **bound)
    sick = rescaled(running, 9 if what is SicknessKind.NETWORK_MEMORY else 8)
    running.advance_to(60)
    assert sick.status(running.now_s) is not JobStatus.RUNNING
    running.raise_memory(**more)
    running.advance_to(120)
    assert sick.status(running.now_s) is JobStatus.RUNNING
    assert sick.restarts[-1].cause is Cause.MEMORY
    assert sick.diagnosis.speed == 1


def test_a_bad_deployment_is_sick_at_any_parallelism_until_a_good_one_comes() -> None:
    """It has another job id and the parallelism of the beginning; what waits is not lost."""
    bad = Failure(what=FailureKind.DEPLOYMENT, at=timedelta(seconds=60), duration=timedelta(seconds=100))
    running = cluster(FAILING, bad, least=20)
    found = rescaled(running, 6)
    before = found.job_id
    running.advance_to(70)
    assert found.parallelism["count"] == 4
    rescaled(running, 5)
    running.advance_to(150)
    assert found.status(running.now_s) is not JobStatus.RUNNING
    running.advance_to(200)
    assert found.status(running.now_s) is JobStatus.RUNNING
    assert len({before, found.job_id}) == 2
    assert found.tasks["source"].ledger.arrived == pytest.approx(200 * 100)
    assert [each.cause for each in found.restarts if each.cause is Cause.DEPLOYMENT] == [Cause.DEPLOYMENT] * 2


def test_a_user_may_deploy_another_graph() -> None:
    """Its new vertex counts from nothing, the old ones go on."""
    running = SimulatedCluster([PIPE], conditions=Conditions(settings=SETTINGS))
    running.advance_to(60)
    running.deploy(job("pipe", *PIPE.vertices, vertex("sink", 500)))
    running.advance_to(120)
    found = running.jobs["pipe"]
    assert [each.name for each in found.topology.vertices] == ["source", "count", "sink"]
    assert 0 < found.tasks["sink"].ledger.read < found.tasks["count"].ledger.read


async def test_the_history_tells_the_failures_of_this_submission_since_an_instant() -> None:
    """Not the ones before, nor those of a job id that is gone."""
    running = cluster(FAILING, least=8, text="java.lang.Exception: no luck")
    history = SimulatedFailureHistory(running)
    rescaled(running, 8)
    running.advance_to(30)
    ctx = await context(running)
    told = await history.query_failures(ctx, START)
    assert [failure.text for failure in told.failures] == ["java.lang.Exception: no luck"] * 3
    assert (await history.query_failures(ctx, told.failures[1].at)).failures == told.failures[1:]
    assert told.restarts == len(running.jobs["pipe"].restarts)
    running.deploy(PIPE)
    running.advance_to(60)
    assert (await history.query_failures(await context(running), START)).failures == ()


def test_a_range_without_room_and_a_pressure_without_a_bound_are_refused() -> None:
    """As is a vertex that is not there."""
    with pytest.raises(ValueError, match="to 2 is below from 3"):
        Sickness(what=FAILING, least=3, most=2)
    with pytest.raises(ValueError, match="needs the highest parallelism"):
        Sickness(what=PRESSURE)
    with pytest.raises(ValueError, match="no vertex 'sink', only source, count"):
        job("pipe", *PIPE.vertices, sicknesses=(Sickness(what=FAILING, vertex="sink"),))
