"""What observing needs of the driver: every call reads, none runs a Spark job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headgate.engines.spark.application import Application, Executors, QuerySettings, RunningQuery, StageRun


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWork:
    """The stages of one batch, as far as the driver has written them down."""

    stages: tuple[StageRun, ...]
    """Empty also when they are forgotten: the driver keeps only the latest (`spark.ui.retainedJobs`)."""
    complete: bool
    """Whether nothing of it is still to come: the driver's books are a little late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFailure:
    """A query that ended by an exception."""

    query: str
    run_id: str
    at: datetime
    """When that was noticed."""
    text: str
    """The exception and its causes, one line each, without frames."""


class Gateway(Protocol):
    """
    Reads from the driver; blocking, and called by one thread at a time.

    Every method raises `NotFoundError` when the application has ended, and `TransientError` when there is no usable
    answer.
    """

    def application(self) -> Application:
        """Tell which application it is."""

    def executors(self) -> Executors:
        """Tell which executors there are."""

    def queries(self) -> Sequence[RunningQuery]:
        """List the active queries."""

    def settings(self, run_id: str) -> QuerySettings:
        """Tell how an active query was started; what cannot be told is as if nothing was set."""

    def work(self, run_id: str, batch_id: int) -> BatchWork:
        """Give the stages of a batch; each run is asked for its batches in their order."""

    def progress_since(self, run_id: str, batch_id: int) -> Sequence[str]:
        """Give the progress of an active query's batches after one, as JSON, oldest first; only some are kept."""

    def failures(self) -> Sequence[QueryFailure]:
        """Give the queries that were seen active and have ended by an exception since, oldest first."""
