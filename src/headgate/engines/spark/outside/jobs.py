"""The Spark applications that are looked after from outside."""

from __future__ import annotations

from headgate.ports import JobList


class SparkJobListFetcher:
    """A `ports.JobListFetcher` of the applications of one Spark cluster."""

    async def fetch(self) -> JobList:
        """List them."""
        raise NotImplementedError
