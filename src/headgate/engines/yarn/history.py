"""What is remembered of the failures of jobs of Flink applications. Implements `headgate.ports.FailureHistory`."""

from __future__ import annotations

from datetime import datetime

from headgate.engines.yarn.applications import Applications
from headgate.model.rollback import JobFailures
from headgate.ports import FailureHistory, JobContext


class YarnFailureHistory:
    """Hands every question to the Flink history of the job's application; one that is over is not found."""

    def __init__(self, applications: Applications, others: FailureHistory | None = None) -> None:
        """
        Look there at each call.

        Args:
            applications: of one YARN cluster.
            others: knows the jobs of all other clusters; None where there are none.
        """
        self._applications = applications
        self._others = others

    async def query_failures(self, ctx: JobContext, since: datetime, /) -> JobFailures:
        """Give the failures since an instant; the contract is the port's."""
        if self._others is not None and not self._applications.owns(ctx.key.cluster):
            return await self._others.query_failures(ctx, since)
        return await self._applications.find(ctx.key.cluster).history.query_failures(ctx, since)
