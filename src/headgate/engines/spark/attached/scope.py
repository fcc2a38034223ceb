"""What of an application is looked after: all of its queries, or the one that Headgate was attached to."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.engines.spark.application import RunningQuery
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import Gateway, QueryFailure
from headgate.errors import NotFoundError
from headgate.ports import JobContext


class Scope:
    """A gateway, and which queries count."""

    def __init__(self, gateway: Gateway, only: str | None = None) -> None:
        """Ask nothing yet; `only` is the name of the one query that counts, or its id where it has none."""
        self.gateway = gateway
        self._only = only

    def confirm(self, ctx: JobContext) -> None:
        """
        Make sure that this is the job that is meant.

        Raises:
            NotFoundError: it is another one, or has ended.
        """
        running = self.gateway.application().id
        if running != ctx.job_id:
            message = f"job {ctx.key} ({ctx.job_id}) is gone: this is application {running}"
            raise NotFoundError(message)

    def queries(self) -> Sequence[RunningQuery]:
        """List the active queries that count."""
        return [query for query in self.gateway.queries() if self._counts(query)]

    def _counts(self, query: RunningQuery) -> bool:
        return self._only is None or (query.query == self._only and not query.foreign)

    def failures(self, feed: ProgressFeed) -> Sequence[QueryFailure]:
        """List the queries that failed, oldest first, whoever noticed it."""
        noticed = {failure.run_id: failure for failure in (*self.gateway.failures(), *feed.failures)}
        counting = [failure for failure in noticed.values() if self._only in {None, failure.query}]
        return sorted(counting, key=lambda failure: failure.at)
