"""The fake job keeps books: what goes in, waits or comes out."""

from __future__ import annotations

import pytest

from headgate.testing.fake_job import FakeJob, chain


def running(job: FakeJob, seconds: float) -> FakeJob:
    """Start a job and let it run."""
    job.start(1_000)
    job.advance_to(1_000 + round(seconds * 1000))
    return job


def test_a_job_that_keeps_up() -> None:
    """It takes what arrives; the rest of its time is idle."""
    job = running(chain(job_id="1" * 32, name="j", vertices=3, rate=400), 10)
    assert job["stage-2"].records_in == pytest.approx(4_000)
    assert job["stage-1"].busy_ms == pytest.approx(4_000)
    assert job["stage-1"].idle_ms == pytest.approx(6_000)
    assert job.pending == 0


def test_a_bottleneck_holds_the_job_back() -> None:
    """What it cannot take waits before the source, and those upstream are blocked."""
    job = chain(job_id="1" * 32, name="j", vertices=3, rate=900)
    job["stage-2"].capacity = 300
    running(job, 10)
    assert job["stage-2"].busy_ms == pytest.approx(10_000)
    assert job["stage-1"].backpressured_ms == pytest.approx(7_000)
    assert job["Source: source"].records_in == pytest.approx(3_000)
    assert job.pending == pytest.approx(6_000)


def test_a_backlog_is_worked_off_and_then_no_more() -> None:
    """1,000 records/s are done while 500 arrive: 2,000 waiting are gone after four seconds."""
    job = chain(job_id="1" * 32, name="j", vertices=2, rate=500)
    job.pending = 2_000
    running(job, 10)
    assert job.pending == 0
    assert job["stage-1"].records_in == pytest.approx(4 * 1_000 + 6 * 500, rel=0.01)


def test_selectivity_multiplies() -> None:
    """Two records out for each one in."""
    job = chain(job_id="1" * 32, name="j", vertices=3, rate=100)
    job["stage-1"].selectivity = 2.0
    running(job, 10)
    assert job["stage-2"].records_in == pytest.approx(2_000)


def test_a_rescale_comes_after_its_delay_and_resets_the_counters() -> None:
    """Three seconds at one subtask, seven at four."""
    job = chain(job_id="1" * 32, name="j", vertices=2, rate=100)
    job.rescale_delay_s = 3
    job.start(0)
    job.request({vertex.id: (1, 4) for vertex in job.vertices})
    job.advance_to(2_000)
    assert job["stage-1"].parallelism == 1
    job.advance_to(10_000)
    assert job["stage-1"].parallelism == 4
    assert job["stage-1"].records_in == pytest.approx(700)
    assert job.running_since_ms == 3_000


def test_subtask_times_add_up() -> None:
    """Whatever the skew, each subtask was busy, idle or blocked all the time."""
    job = chain(job_id="1" * 32, name="j", vertices=2, rate=900, parallelism=3)
    job["stage-1"].skew = (2.0, 0.5)
    running(job, 10)
    times = [job["stage-1"].subtask(index)[2:] for index in range(3)]
    assert [sum(each) for each in times] == pytest.approx([10_000] * 3)
    assert sum(busy for busy, _, _ in times) == pytest.approx(job["stage-1"].busy_ms)


def test_a_restarted_subtask_counts_from_zero_and_the_others_go_on() -> None:
    """The sum of a vertex falls by what is gone."""
    job = chain(job_id="a" * 32, name="chain", vertices=2, rate=600, parallelism=3)
    job.start(0)
    job.advance_to(10_000)
    job["stage-1"].restart_subtask(1)
    assert job["stage-1"].counted().records_in == pytest.approx(4_000)
    job.advance_to(20_000)
    counted = [round(job["stage-1"].subtask(index).records_in) for index in range(3)]
    assert counted == [4_000, 2_000, 4_000]
