"""What a listener writes down, and what of exceptions is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.listener import ProgressListener
from headgate.engines.spark.attached.throwables import printed, without_frames
from headgate.testing.builders import START

PRINTED = """java.lang.IllegalStateException: boom
\tat some.Class.method(File.scala:1)
Caused by: java.io.IOException: disk full
\tat some.Other.method(File.scala:2)
"""
TOLD = "java.lang.IllegalStateException: boom\nCaused by: java.io.IOException: disk full"


class Broken:
    """An event of a JVM that has gone."""

    def __getattr__(self, name: str) -> Any:
        """Fail."""
        raise ConnectionError(name)


def listener(feed: ProgressFeed) -> ProgressListener:
    """Give one whose clock stands still."""
    return ProgressListener(feed, clock=lambda: START)


def test_progress_is_kept_as_it_is() -> None:
    """Whoever reads it does so elsewhere."""
    feed = ProgressFeed()
    listener(feed).onQueryProgress(SimpleNamespace(progress=SimpleNamespace(json="{}")))
    assert feed.take() == ["{}"]


def test_a_failed_query_is_kept_under_its_name() -> None:
    """Which Spark tells at the start only; a query that was stopped has not failed."""
    feed = ProgressFeed()
    heard = listener(feed)
    for query in ("a", "b"):
        heard.onQueryStarted(SimpleNamespace(id=query, name="count" if query == "a" else None))
    heard.onQueryTerminated(SimpleNamespace(id="a", runId="run-1", exception=PRINTED))
    heard.onQueryTerminated(SimpleNamespace(id="b", runId="run-2", exception=None))
    (failure,) = feed.failures
    assert (failure.query, failure.run_id, failure.at, failure.text) == ("count", "run-1", START, TOLD)


def test_nothing_is_raised_into_spark() -> None:
    """Its thread serves all listeners of the session."""
    feed = ProgressFeed()
    heard = listener(feed)
    for call in (heard.onQueryStarted, heard.onQueryProgress, heard.onQueryIdle, heard.onQueryTerminated):
        call(Broken())
    assert feed.take() == []


def throwable(name: str, message: str | None, cause: Any = None) -> Any:
    """Give one of Java's exceptions."""
    kind = SimpleNamespace(getName=lambda: name)
    return SimpleNamespace(getClass=lambda: kind, getMessage=lambda: message, getCause=lambda: cause)


def test_an_exception_is_a_line_and_each_cause_is_one() -> None:
    """However it came: printed, or as an object; frames and plans are left out."""
    cause = throwable("java.io.IOException", "disk full")
    assert printed(throwable("java.lang.IllegalStateException", "boom\n=== Plan ===\nscan", cause)) == TOLD
    assert without_frames(PRINTED) == TOLD


def test_long_and_empty_texts_are_bounded() -> None:
    """A message may hold a whole plan in one line, or nothing."""
    assert len(without_frames("x" * 5000)) == 300
    assert without_frames("") == ""
    assert printed(throwable("java.lang.Error", None)) == "java.lang.Error:"
