"""
An evaluator that starts Spark at its first use, and again after its JVM has died: the service outlives it.

It outlives an evaluation that hangs as well: the next one cancels what that has asked of Spark, and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Lock, Thread
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.pipeline.live import warm_up
from headgate.pipeline.session import tagged
from headgate.ports import Candidate, FleetEvaluator


class RevivingEvaluator:
    """
    A `ports.FleetEvaluator` over a Spark session that it opens, replaces when it is dead, and closes.

    Opening takes seconds and happens in the thread that evaluates, so that collecting need not wait for it. A session's
    first query takes many times as long as any later one, so one over nothing comes before those that count.

    One evaluation at a time: one that has not come to an end when the next begins is abandoned, and its thread with it.
    """

    def __init__(
        self,
        open_session: Callable[[], SparkSession],
        evaluator_over: Callable[[SparkSession], FleetEvaluator],
        *,
        patience: timedelta = timedelta(seconds=10),
    ) -> None:
        """
        Start nothing yet.

        Args:
            open_session: starts Spark.
            evaluator_over: makes what evaluates on a session.
            patience: how long the JVM may take to cancel what hangs; one that takes longer is killed.
        """
        self._patience = patience
        self._open_session = open_session
        self._evaluator_over = evaluator_over
        self._session: SparkSession | None = None
        self._evaluator: FleetEvaluator | None = None
        self._under_way: str | None = None
        """Tag of the evaluation that has not come to an end, None while there is none."""
        self._lock = Lock()
        """Held to look and to note, never over a call of Spark."""
        self._starting = Lock()

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """
        Answer every candidate; the contract is the port's.

        Raises:
            UnreachableError: Spark could not be started, failed or died (the next call starts a dead one
                anew), the call before is still starting it, or the next call came before the end of this one.
        """
        tag = uuid4().hex
        self._begin(tag)
        try:
            evaluator, session = self._evaluator or self._start(), self._running_session()
            with tagged(session, tag):
                return evaluator.evaluate(candidates, now)
        except UnreachableError:
            with self._starting:
                if self._session is None or not is_alive(self._session):
                    self._drop()
            raise
        finally:
            with self._lock:
                if self._under_way == tag:
                    self._under_way = None

    def _begin(self, tag: str) -> None:
        with self._lock:
            before, session = self._under_way, self._session
            if before and self._evaluator is None:
                message = "Spark is still being started"
                raise UnreachableError(message)
            self._under_way = tag
        if before and session:
            self._abandon(before, session)

    def _abandon(self, tag: str, session: SparkSession) -> None:
        """Cancel what an evaluation has asked of Spark, and leave to it what it may still use in its thread."""
        cancelling = Thread(target=_cancel, args=[session, tag], daemon=True)
        cancelling.start()
        cancelling.join(self._patience.total_seconds())
        frozen = cancelling.is_alive()
        if frozen:
            _kill_jvm()
        with self._starting:
            if self._session is not session:
                return
            if frozen:
                self._drop()
            else:
                self._evaluator = self._evaluator_over(session)

    @property
    def session(self) -> SparkSession | None:
        """The session, for others to use beside the evaluations; None while there is none."""
        return self._session if self._evaluator else None

    def running(self) -> SparkSession:
        """
        Give a session that runs, for who needs one whether there is anything to evaluate or not; blocking.

        Raises:
            UnreachableError: Spark could not be started.
        """
        self._start()
        return self._running_session()

    def _running_session(self) -> SparkSession:
        if self._session is None:
            message = "Spark was stopped meanwhile"
            raise UnreachableError(message)
        return self._session

    def close(self) -> None:
        """Stop Spark if it runs, whatever is under way on it."""
        with self._starting:
            if self._session is not None:
                self._drop()

    def _start(self) -> FleetEvaluator:
        with self._starting:
            if self._session is not None and not is_alive(self._session):
                self._drop()
            if self._evaluator is None:
                self._session = self._open_session()
                warm_up(self._session)
                self._evaluator = self._evaluator_over(self._session)
            return self._evaluator

    def _drop(self) -> None:
        session, self._session, self._evaluator = self._session, None, None
        if session is not None and is_alive(session):
            with suppress(Py4JError, OSError):
                session.stop()
        # PySpark keeps a dead JVM's gateway for the life of the process and has no public way to let go of it.
        SparkContext._active_spark_context = None  # noqa: SLF001
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001
        SparkSession._instantiatedSession = None  # noqa: SLF001


def _cancel(session: SparkSession, tag: str) -> None:
    with suppress(Py4JError, OSError):  # a dead JVM has nothing left to cancel
        session.sparkContext.cancelJobsWithTag(tag)


def _kill_jvm() -> None:
    """Kill a JVM that does not answer: all that waits for it fails then, and the next use starts another one."""
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 - PySpark has no public way to it
    if process is not None:
        process.kill()
        process.wait()


def is_alive(session: SparkSession) -> bool:
    """Ask the JVM whether its Spark context still runs."""
    try:
        return not session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001 - the context has no public question for it
    except (Py4JError, OSError):
        return False
