"""The one job that there is: this application."""

from __future__ import annotations

from headgate.engines.spark.application import Application
from headgate.engines.spark.attached.calls import Calls
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import Gateway
from headgate.engines.spark.attached.scope import Scope
from headgate.errors import HeadgateError, NotFoundError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext, JobList


class AttachedJobListFetcher:
    """Lists the application that it runs in. Implements `headgate.ports.JobListFetcher`."""

    def __init__(
        self,
        gateway: Gateway,
        feed: ProgressFeed,
        options: AutoscalerOptions,
        *,
        cluster: str = "spark",
        calls: Calls | None = None,
        only: str | None = None,
    ) -> None:
        """
        Ask nothing yet.

        Args:
            gateway: to the driver.
            feed: where a listener puts failures.
            options: that hold for the job.
            cluster: the first part of the job's key; holds no slash.
            calls: makes the blocking calls; give all that share a gateway the same.
            only: the one query that counts; None: all do.
        """
        self._scope = Scope(gateway, only)
        self._feed = feed
        self._options = options
        self._cluster = cluster
        self._calls = calls or Calls()
        self._application: Application | None = None
        self._last: set[str] = set()
        """The runs that were active when some last were."""

    async def fetch(self) -> JobList:
        """List the application; the contract is the port's."""
        try:
            status = await self._calls.make(self._status)
        except HeadgateError as error:
            return JobList(jobs=(), failures={self._cluster: str(error)})
        application = self._application
        return JobList(jobs=(self._context(application, status),) if application else (), failures={})

    def _status(self) -> JobStatus:
        """
        Tell how the job is.

        While the application lives, whoever started a query may start it again, be it that it failed or that it is to
        go on with other settings: the job is over when the application is.
        """
        try:
            self._application = self._scope.gateway.application()
            active = {query.run_id for query in self._scope.queries()}
            failed = set() if active else {failure.run_id for failure in self._scope.failures(self._feed)}
        except NotFoundError:
            return JobStatus.FINISHED
        if active:
            self._last = active
            return JobStatus.RUNNING
        if failed & self._last or (failed and not self._last):
            return JobStatus.RESTARTING
        return JobStatus.STARTING

    def _context(self, application: Application, status: JobStatus) -> JobContext:
        return JobContext(
            key=JobKey(self._cluster, application.name),
            job_id=application.id,
            status=status,
            options=self._options,
            started_at=application.started_at,
        )
