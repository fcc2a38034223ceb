"""What is remembered of queries that failed, under the port's rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from headgate.engines.spark.attached.calls import Calls
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import Gateway, QueryFailure
from headgate.engines.spark.attached.scope import Scope
from headgate.model.rollback import JobFailure, JobFailures
from headgate.ports import JobContext


class AttachedFailureHistory:
    """Tells which queries ended by an exception. Implements `headgate.ports.FailureHistory`."""

    def __init__(
        self, gateway: Gateway, feed: ProgressFeed, *, calls: Calls | None = None, only: str | None = None
    ) -> None:
        """
        Ask nothing yet.

        Args:
            gateway: to the driver.
            feed: where a listener puts failures.
            calls: makes the blocking calls; give all that share a gateway the same.
            only: the one query that counts; None: all do.
        """
        self._scope = Scope(gateway, only)
        self._feed = feed
        self._calls = calls or Calls()

    async def query_failures(self, ctx: JobContext, since: datetime, /) -> JobFailures:
        """Give the failures since an instant; the contract is the port's."""
        failures = await self.failed_queries(ctx)
        return JobFailures(failures=tuple(JobFailure(at=one.at, text=one.text) for one in failures if one.at >= since))

    async def failed_queries(self, ctx: JobContext, /) -> Sequence[QueryFailure]:
        """Give the queries that ended by an exception, oldest first, each run once; errors as above."""
        return await self._calls.make(partial(self._known, ctx))

    def _known(self, ctx: JobContext) -> Sequence[QueryFailure]:
        self._scope.confirm(ctx)
        return self._scope.failures(self._feed)
