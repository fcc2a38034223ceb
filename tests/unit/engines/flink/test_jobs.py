"""The job list over several clusters."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from headgate.config import JobSettings, for_job
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.jobs import FlinkJobListFetcher, name_jobs
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.overview import ListedJob
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.faults import Fault

ANY = ClusterOptions(name="any", url="http://any")


def listed(name: str, job_id: str, start: int, status: JobStatus = JobStatus.RUNNING) -> ListedJob:
    """Make a line of a job list."""
    return ListedJob(job_id=job_id, name=name, status=status, started_at_ms=start)


async def test_a_cluster_that_does_not_answer_is_a_failure_in_the_answer(
    server: FakeFlink, client: FlinkClient
) -> None:
    """The jobs of the others are listed all the same, each with the options of its key."""
    away = FlinkClient(ClusterOptions(name="away", url="http://127.0.0.1:9", request_timeout=timedelta(seconds=1)))
    special = AutoscalerOptions(utilization_target=0.5)
    async with away:
        fetcher = FlinkJobListFetcher(
            {"fake": client, "away": away},
            lambda key, _: JobSettings(options=special if key == JobKey("fake", "orders") else AutoscalerOptions()),
        )
        answer = await fetcher.fetch()
    assert [(job.key, job.job_id) for job in answer.jobs] == [(JobKey("fake", "orders"), "a" * 32)]
    assert answer.jobs[0].options is special
    (job,) = server.jobs.values()
    assert answer.jobs[0].started_at == instant(job.submitted_at_ms)
    assert list(answer.failures) == ["away"]
    assert "cluster away: GET /jobs/overview failed" in answer.failures["away"]


async def test_an_answer_that_is_not_understood_is_a_failure_too(server: FakeFlink, client: FlinkClient) -> None:
    """Another service at the address must not end the loop."""
    server.plant(Fault(path="/jobs/overview", status=404, text="nothing here"))
    answer = await FlinkJobListFetcher({"fake": client}, partial(for_job, ServiceOptions(clusters=(ANY,)))).fetch()
    assert answer.jobs == ()
    assert "nothing here" in answer.failures["fake"]


async def test_a_job_is_asked_for_its_wishes_once_it_runs(server: FakeFlink, client: FlinkClient) -> None:
    """Before, it is asked each time, and after its end never."""
    fetcher = FlinkJobListFetcher({"fake": client}, partial(for_job, ServiceOptions(clusters=(ANY,))))
    (job,) = server.jobs.values()
    job.state = "CANCELED"
    (over,) = (await fetcher.fetch()).jobs
    assert (over.options.scaling_enabled, over.faults) == (False, ())
    assert server.asked(f"/jobs/{job.job_id}/config") == 0
    for state, asked in (("RESTARTING", 1), ("RESTARTING", 2), ("RUNNING", 3), ("RUNNING", 3)):
        job.state = state
        (listed_job,) = (await fetcher.fetch()).jobs
        assert listed_job.options.scaling_enabled
        assert server.asked(f"/jobs/{job.job_id}/config") == asked


def test_of_two_live_jobs_of_a_name_the_oldest_keeps_it() -> None:
    """The other one is told apart by its id, whatever order they come in."""
    jobs = [listed("x", "new", 2), listed("x", "old", 1)]
    assert [(str(key), job.job_id) for key, job in name_jobs("c", jobs)] == [("c/x", "old"), ("c/x (new)", "new")]


def test_a_job_that_is_over_does_not_hold_its_name() -> None:
    """Flink lists it for an hour, beside the one that was submitted again."""
    jobs = [listed("x", "old", 1, JobStatus.CANCELED), listed("x", "new", 2)]
    assert [(str(key), job.job_id) for key, job in name_jobs("c", jobs)] == [("c/x", "new")]


def test_of_jobs_that_are_all_over_the_latest_is_told() -> None:
    """So that its end is seen."""
    jobs = [listed("x", "one", 1, JobStatus.FAILED), listed("x", "two", 2, JobStatus.FINISHED)]
    assert [(str(key), job.job_id) for key, job in name_jobs("c", jobs)] == [("c/x", "two")]
