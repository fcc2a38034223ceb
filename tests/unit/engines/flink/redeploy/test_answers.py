"""What Flink answers about savepoints and failures, in the words that people are shown."""

from __future__ import annotations

from headgate.engines.flink.redeploy.answers import Stop, read_failure, read_jars, read_stop, root_cause

TRACE = """\
java.util.concurrent.CompletionException: org.apache.flink.runtime.checkpoint.CheckpointException: Trigger failure.
\tat java.base/java.util.concurrent.CompletableFuture.encodeRelay(CompletableFuture.java:368)
Caused by: org.apache.flink.runtime.checkpoint.CheckpointException: IO-problem detected.
\tat org.apache.flink.runtime.checkpoint.Coordinator.trigger(Coordinator.java:1)
Caused by: java.io.IOException: Failed to create savepoint directory at file:/proc/nope
\t... 8 more
"""


def test_a_stop_is_under_way_done_or_failed() -> None:
    """As Flink 2.3 writes it."""
    assert read_stop({"status": {"id": "IN_PROGRESS"}, "operation": None}) == Stop()
    done = {"status": {"id": "COMPLETED"}, "operation": {"location": "file:/s/1"}}
    assert read_stop(done) == Stop(location="file:/s/1")
    failed = {"status": {"id": "COMPLETED"}, "operation": {"failure-cause": {"stack-trace": TRACE}}}
    assert read_stop(failed) == Stop(failure="Failed to create savepoint directory at file:/proc/nope")


def test_the_innermost_cause_is_told() -> None:
    """Without classes; a trace without causes gives its first line."""
    assert root_cause("java.lang.IllegalStateException: no backend\n\tat X.java:1") == "no backend"
    assert root_cause("") == "no reason given"
    assert read_failure({"exceptionHistory": {"entries": []}}) == ""
    assert len(root_cause(f"Caused by: {'x' * 1000}")) == 300


def test_the_latest_upload_of_a_jar_comes_first() -> None:
    """A name may have been uploaded several times."""
    answer = {"files": [{"id": f"{n}_a.jar", "name": "a.jar", "uploaded": n} for n in (1, 3, 2)]}
    assert [jar.id for jar in read_jars(answer)] == ["3_a.jar", "2_a.jar", "1_a.jar"]
