"""Lists the jobs of a Mill."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.errors import HeadgateError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext, JobList

from headgate_mill.files import MillFiles


class MillJobListFetcher:
    """Every job that writes into the directory. Implements `headgate.ports.JobListFetcher`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """Take `directory`, and `cluster`: the name in job keys, `mill` unless told otherwise."""
        self._files = MillFiles(parameters)
        self._cluster = parameters.get("cluster", "mill")

    async def fetch(self) -> JobList:
        """List the jobs, or say that the directory cannot be read."""
        try:
            jobs = tuple(self._context(name) for name in self._files.jobs())
        except HeadgateError as error:
            return JobList(jobs=(), failures={self._cluster: str(error)})
        return JobList(jobs=jobs, failures={})

    def _context(self, name: str) -> JobContext:
        status = self._files.status(name)
        state = status.state if status.state in JobStatus.__members__ else JobStatus.OTHER
        return JobContext(
            key=JobKey(self._cluster, name),
            job_id=status.job_id,
            status=JobStatus(state),
            options=AutoscalerOptions(),
        )
