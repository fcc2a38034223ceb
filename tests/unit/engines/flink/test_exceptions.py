"""The failures of a job, from Flink's exception history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.exceptions import FlinkFailureHistory, read_failures, read_restarts, without_frames
from headgate.engines.flink.numbers import instant
from headgate.errors import NotFoundError, UnreachableError
from headgate.ports import JobContext
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob
from headgate.testing.faults import Fault, FaultKind
from headgate.testing.watch import FlinkWatch

NO_BUFFERS = "java.io.IOException: Insufficient number of network buffers: required 17, but only 3 available."
PATH_END = f"{'a' * 32}/exceptions"


@pytest.fixture
def history(client: FlinkClient) -> FlinkFailureHistory:
    """Give the history of the fake cluster."""
    return FlinkFailureHistory({"fake": client})


@pytest.fixture
def context(watch: FlinkWatch) -> JobContext:
    """Give the job."""
    return watch.context


def test_a_recorded_crash_loop(recorded: Callable[[str], Any]) -> None:
    """Oldest first, to the millisecond; what an exception says on several lines is one."""
    failures = read_failures(recorded("exceptions_crash_loop"))
    assert [failure.at for failure in failures] == [
        instant(1795172194907),
        instant(1795172255077),
        instant(1795172315146),
    ]
    assert failures[0].text == (
        "org.apache.flink.streaming.runtime.tasks.StreamTaskException: Cannot load user class: LoadJob$LoadSource "
        "ClassLoader info: URL ClassLoader: Class not resolvable through given classloader.\n"
        "Caused by: java.lang.ClassNotFoundException: LoadJob$LoadSource"
    )


def test_recorded_losses_of_task_managers(recorded: Callable[[str], Any]) -> None:
    """All causes are told, what was suppressed on the way is not."""
    lost, closed, refused, told_to_go = (
        failure.text.splitlines() for failure in read_failures(recorded("exceptions_lost_workers"))
    )
    assert lost == [
        "org.apache.flink.runtime.jobmaster.JobMasterException: TaskManager with id tm1 is no longer reachable."
    ]
    assert closed[0].endswith("This might indicate that the remote task manager was lost.")
    assert [line.split(": ")[:2] for line in refused][1:] == [
        ["Caused by", "org.apache.flink.runtime.io.network.netty.exception.RemoteTransportException"],
        ["Caused by", "org.apache.flink.shaded.netty4.io.netty.channel.AbstractChannel$AnnotatedConnectException"],
        ["Caused by", "java.net.ConnectException"],
    ]
    assert told_to_go == ["org.apache.flink.util.FlinkExpectedException: The TaskExecutor is shutting down."]


def test_what_failed_together_is_one_failure() -> None:
    """Which of the tasks Flink puts first is chance, so the texts of all of them are told."""
    entry = {
        "exceptionName": "java.lang.Exception",
        "stacktrace": "java.lang.Exception: first\n\tat a.B.c(B.java:1)\n",
        "timestamp": 1000,
        "concurrentExceptions": [{"exceptionName": "java.io.IOException", "stacktrace": NO_BUFFERS, "timestamp": 1001}],
    }
    (failure,) = read_failures({"exceptionHistory": {"entries": [entry]}})
    assert failure.at == instant(1000)
    assert failure.text == f"java.lang.Exception: first\n{NO_BUFFERS}"


def test_a_failure_without_a_stack_trace_has_a_name() -> None:
    """Rather than nothing."""
    entry = {"exceptionName": "java.lang.Exception", "stacktrace": "", "timestamp": 1000}
    (failure,) = read_failures({"exceptionHistory": {"entries": [entry]}})
    assert failure.text == "java.lang.Exception"


def test_long_messages_are_cut() -> None:
    """A class path can be longer than anybody wants to keep; the causes after it are told all the same."""
    first, cause = without_frames(f"a.B: {'x' * 9999}\n\tat a.B\nCaused by: a.C: y")
    assert len(first) == 500
    assert cause == "Caused by: a.C: y"


@pytest.mark.parametrize(
    ("answer", "restarts"),
    [
        ([{"id": "numRestarts", "value": "3"}, {"id": "fullRestarts", "value": "2"}], 3),
        ([{"id": "fullRestarts", "value": "2"}], 2),
        ([{"id": "numRestarts", "value": "0"}], 0),
        ([{"id": "numRestarts", "value": "NaN"}], None),
        ([], None),
    ],
)
def test_restarts(answer: Any, restarts: int | None) -> None:
    """By the metric's name of any version; unknown where Flink does not tell."""
    assert read_restarts(answer) == restarts


async def test_failures_since_an_instant(
    history: FlinkFailureHistory, context: JobContext, server: FakeFlink, job: FakeJob
) -> None:
    """Those of before are left out; a rescale is a restart and no failure."""
    job.fail("java.lang.Exception: long ago\n\tat a.B.c(B.java:1)")
    server.advance(60)
    since = instant(server.now_ms)
    job.advance_to(server.now_ms)
    job.fail(f"{NO_BUFFERS}\n\tat a.B.c(B.java:1)")
    told = await history.query_failures(context, since)
    assert [(failure.at, failure.text) for failure in told.failures] == [(since, NO_BUFFERS)]
    assert told.restarts == 2
    job.request({vertex.id: (1, 3) for vertex in job.vertices})
    server.advance(1)
    after = await history.query_failures(context, since)
    assert (len(after.failures), after.restarts) == (1, 3)
    assert await history.query_failures(context, since + timedelta(seconds=2)) != after


async def test_a_healthy_job_has_no_failures(history: FlinkFailureHistory, context: JobContext) -> None:
    """Never restarted, never failed."""
    told = await history.query_failures(context, instant(0))
    assert (told.failures, told.restarts) == ((), 0)


async def test_all_that_flink_keeps_is_asked_for(
    history: FlinkFailureHistory, context: JobContext, server: FakeFlink, job: FakeJob
) -> None:
    """Unasked it gives the latest twenty, where an operator let it keep more."""
    for _ in range(30):
        server.advance(1)
        job.advance_to(server.now_ms)
        job.fail(NO_BUFFERS)
    assert len((await history.query_failures(context, instant(0))).failures) == 30
    assert server.asked(PATH_END) == 1


async def test_a_job_that_is_gone(history: FlinkFailureHistory, context: JobContext, server: FakeFlink) -> None:
    """As every other port says it."""
    server.vanish(context.job_id)
    with pytest.raises(NotFoundError):
        await history.query_failures(context, instant(0))


async def test_a_cluster_of_somebody_else(context: JobContext) -> None:
    """A job list of somebody's own may list jobs that nothing is known of."""
    told = await FlinkFailureHistory({}).query_failures(context, instant(0))
    assert (told.failures, told.restarts) == ((), None)


async def test_a_silent_cluster(history: FlinkFailureHistory, context: JobContext, server: FakeFlink) -> None:
    """As every other port says it."""
    server.plant(Fault(kind=FaultKind.RESET))
    with pytest.raises(UnreachableError):
        await history.query_failures(context, instant(0))
