"""Hears of each batch's progress from Spark, and only writes it down."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.gateway import QueryFailure
from headgate.engines.spark.attached.throwables import without_frames


class ProgressListener(StreamingQueryListener):
    """
    Puts each progress into a feed; works on PySpark 3.5 to 4.x.

    Spark calls it on a thread that all listeners of the session share: it never raises and never waits.
    """

    def __init__(self, feed: ProgressFeed, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Remember where to put it; the clock tells when a query failed."""
        self._feed = feed
        self._clock = clock
        self._names: dict[str, str] = {}

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Remember its name: nobody tells it at the end."""
        with suppress(Exception):
            self._names[str(event.id)] = event.name or str(event.id)

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """Keep it."""
        with suppress(Exception):
            self._feed.put(event.progress.json)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Leave it: a query that waits says so when it is asked."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """Keep why, if it failed."""
        with suppress(Exception):
            name = self._names.pop(str(event.id), str(event.id))
            if event.exception:
                text = without_frames(event.exception)
                failure = QueryFailure(query=name, run_id=str(event.runId), at=self._clock(), text=text)
                self._feed.put_failure(failure)


def listen(session: SparkSession, feed: ProgressFeed) -> ProgressListener | None:
    """Fill a feed from now on; None where the session takes no listener: then queries are asked."""
    listener = ProgressListener(feed)
    with suppress(Exception):
        session.streams.addListener(listener)
        feed.is_fed = True
        return listener
    return None


def stop_listening(session: SparkSession, listener: ProgressListener) -> None:
    """Take a listener away again; an application that has ended needs it no more."""
    with suppress(Exception):
        session.streams.removeListener(listener)
