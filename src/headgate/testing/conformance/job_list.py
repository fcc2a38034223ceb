"""
What every `JobListFetcher` must do.

Use: subclass `JobListFetcherSuite` in a test file and define a fixture `stage` that gives a `JobListStage`.
"""

from __future__ import annotations

from typing import Protocol

import pytest

from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobListFetcher
from headgate.testing.conformance.travelling import sent


class JobListStage(Protocol):
    """A fetcher, and one cluster with a running job."""

    @property
    def fetcher(self) -> JobListFetcher:
        """The one that is tested."""

    async def start_twin(self) -> str | None:
        """Start a younger job under the name of the first and give its id; None where the engine forbids that."""

    async def end_job(self) -> None:
        """Let the first job end, or be gone."""

    async def go_silent(self) -> None:
        """Let the cluster give no usable answer from now on."""


@pytest.mark.asyncio
class JobListFetcherSuite:
    """The contract of `headgate.ports.JobListFetcher`, one behaviour a test."""

    @pytest.fixture
    def stage(self) -> JobListStage:
        """Give a fetcher in front of a cluster with one running job; every subclass has its own."""
        raise NotImplementedError

    async def test_a_running_job_is_listed(self, stage: JobListStage) -> None:
        """With its id and the options that hold for it; its cluster's name has no slash, as it stands in keys."""
        listed = await stage.fetcher.fetch()
        assert listed.failures == {}
        (job,) = listed.jobs
        assert job.status is JobStatus.RUNNING
        assert job.key.name
        assert job.key.cluster
        assert "/" not in job.key.cluster
        assert job.job_id
        assert isinstance(job.options, AutoscalerOptions)

    async def test_the_same_jobs_are_listed_the_same(self, stage: JobListStage) -> None:
        """A key means the same job at every tick: its history hangs on it."""
        assert (await stage.fetcher.fetch()).jobs == (await stage.fetcher.fetch()).jobs

    async def test_two_jobs_of_one_name_are_told_apart(self, stage: JobListStage) -> None:
        """The older one keeps its key, the younger one has its id in its own."""
        (old,) = (await stage.fetcher.fetch()).jobs
        twin = await stage.start_twin()
        if twin is None:
            return
        by_id = {job.job_id: job.key for job in (await stage.fetcher.fetch()).jobs}
        assert by_id[old.job_id] == old.key
        assert by_id[twin] != old.key
        assert twin in by_id[twin].name

    async def test_a_job_that_ended_does_not_live(self, stage: JobListStage) -> None:
        """It is not listed, or listed as over; the cluster has not failed."""
        await stage.end_job()
        listed = await stage.fetcher.fetch()
        assert [job for job in listed.jobs if not job.status.is_over] == []
        assert listed.failures == {}

    async def test_a_cluster_without_answers_is_a_failure_in_the_list(self, stage: JobListStage) -> None:
        """With the reason, and under the name that its jobs' keys have; the others are listed all the same."""
        (job,) = (await stage.fetcher.fetch()).jobs
        await stage.go_silent()
        listed = await stage.fetcher.fetch()
        assert listed.jobs == ()
        assert list(listed.failures) == [job.key.cluster]
        assert listed.failures[job.key.cluster]

    async def test_a_job_travels_to_another_process(self, stage: JobListStage) -> None:
        """Plugins are handed it there."""
        listed = await stage.fetcher.fetch()
        assert sent(listed.jobs) == listed.jobs
