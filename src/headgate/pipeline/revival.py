"""An evaluator that starts Spark at its first use, and again after its JVM has died: the service outlives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from threading import Lock

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.pipeline.live import warm_up
from headgate.ports import Candidate, FleetEvaluator


class RevivingEvaluator:
    """
    A `ports.FleetEvaluator` over a Spark session that it opens, replaces when it is dead, and closes.

    Opening takes seconds and happens in the thread that evaluates, so that collecting need not wait for it. A session's
    first query takes many times as long as any later one, so one over nothing comes before those that count.
    """

    def __init__(
        self, open_session: Callable[[], SparkSession], evaluator_over: Callable[[SparkSession], FleetEvaluator]
    ) -> None:
        """Start nothing yet."""
        self._open_session = open_session
        self._evaluator_over = evaluator_over
        self._session: SparkSession | None = None
        self._evaluator: FleetEvaluator | None = None
        self._lock = Lock()
        self._starting = Lock()

    def evaluate(
        self, candidates: Sequence[Candidate], now: datetime, /
    ) -> Mapping[JobKey, EvaluatedMetrics | NotReady]:
        """
        Answer every candidate; the contract is the port's.

        Raises:
            UnreachableError: Spark could not be started, failed or died (the next call starts a dead one
                anew), or the call before has not come to an end.
        """
        if not self._lock.acquire(blocking=False):
            message = "the evaluation before this one has not come to an end"
            raise UnreachableError(message)
        try:
            return (self._evaluator or self._start()).evaluate(candidates, now)
        except UnreachableError:
            with self._starting:
                if self._session is None or not is_alive(self._session):
                    self._drop()
            raise
        finally:
            self._lock.release()

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
        if self._session is None:
            message = "Spark was stopped meanwhile"
            raise UnreachableError(message)
        return self._session

    def close(self) -> None:
        """Stop Spark if it runs."""
        with self._lock, self._starting:
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


def is_alive(session: SparkSession) -> bool:
    """Ask the JVM whether its Spark context still runs."""
    try:
        return not session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001 - the context has no public question for it
    except (Py4JError, OSError):
        return False
