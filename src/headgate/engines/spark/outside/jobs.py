"""Lists the streaming applications of a standalone cluster. Implements `headgate.ports.JobListFetcher`."""

from __future__ import annotations

import asyncio

from headgate.engines.flink.jobs import name_jobs
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.overview import ListedJob
from headgate.engines.flink.wishes import SettingsOf
from headgate.engines.spark.outside.cluster import SparkCluster
from headgate.engines.spark.outside.gauged import NEEDS_LOG
from headgate.engines.spark.outside.rest import ListedApplication
from headgate.errors import HeadgateError, NotFoundError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.ports import JobContext, JobList


class SparkJobListFetcher:
    """Asks the master what runs; an application without an active query is still starting."""

    def __init__(self, cluster: SparkCluster, settings_of: SettingsOf) -> None:
        """
        Ask nothing yet.

        Args:
            cluster: whoever made it closes it.
            settings_of: gives the options that hold for a job, by its key; an application has none of its own.
        """
        self._cluster = cluster
        self._settings_of = settings_of

    async def fetch(self) -> JobList:
        """List the applications; the contract is the port's."""
        name = self._cluster.options.name
        try:
            state = await self._cluster.state()
        except HeadgateError as error:
            return JobList(jobs=(), failures={name: str(error)})
        wanted = self._cluster.wanted(state.applications)
        statuses = await asyncio.gather(*(_status(self._cluster, one) for one in wanted))
        listed = [_listed(one, status) for one, status in zip(wanted, statuses, strict=True)]
        return JobList(jobs=tuple(self._context(key, job) for key, job in name_jobs(name, listed)), failures={})

    def _context(self, key: JobKey, job: ListedJob) -> JobContext:
        settings = self._settings_of(JobKey(key.cluster, job.name), {})
        return JobContext(
            key=key,
            job_id=job.job_id,
            status=job.status,
            options=settings.options,
            faults=(*settings.told, *([] if self._cluster.options.event_log_dir else [NEEDS_LOG])),
            started_at=instant(job.started_at_ms),
        )


async def _status(cluster: SparkCluster, application: ListedApplication) -> JobStatus:
    """Tell how an application is; one whose log cannot be read (in time) is as the master says."""
    watched = cluster.watch(application.id)
    try:
        async with asyncio.timeout(cluster.options.request_timeout.total_seconds()):
            await watched.follow()
    except NotFoundError:
        return JobStatus.FINISHED
    except Exception:  # noqa: BLE001 - whatever is wrong with one log, the other applications are listed
        return application.status
    return application.status if watched.is_streaming else JobStatus.STARTING


def _listed(application: ListedApplication, status: JobStatus) -> ListedJob:
    return ListedJob(
        job_id=application.id,
        name=application.name,
        status=status,
        started_at_ms=application.started_at_ms,
    )
