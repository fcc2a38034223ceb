"""What restarting queries needs of the session that they run in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pyspark.sql import SparkSession

from headgate.engines.spark.attached.backend import scala_object, translated
from headgate.engines.spark.attached.checkpoint import HadoopFiles, leftovers
from headgate.engines.spark.attached.repartition import checkpoint_of, open_repartition
from headgate.errors import HeadgateError, RefusedError

_STATE_PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"


class Queries(Protocol):
    """The queries of a session; `SessionQueries` has them from PySpark, a test makes them up."""

    def find(self, name: str) -> Any:
        """Give the active `StreamingQuery` of this name or id, or None."""

    def shuffles_anew(self) -> bool:
        """Tell whether a query without state takes `spark.sql.shuffle.partitions` anew when it starts again."""

    def repartition(self, query: Any, partitions: int) -> None:
        """
        Spread the state of a query that has been stopped.

        Raises:
            RefusedError: it was not done, and why; its checkpoint is as it was.
            UnrestoredError: it is not.
        """

    def leftovers(self, query: Any) -> Sequence[str]:
        """Name what a repartition that broke off left beside a query's checkpoint."""


class SessionQueries:
    """`Queries` of a session."""

    def __init__(self, session: SparkSession) -> None:
        """Look at nothing yet."""
        self._session = session

    def find(self, name: str) -> Any:
        """Look among those that are active."""
        return next((query for query in self._session.streams.active if name in {query.name, query.id}), None)

    def shuffles_anew(self) -> bool:
        """Spark writes down partitions of the state apart from those of shuffles where it has a setting for them."""
        jvm: Any = self._session.sparkContext._jvm  # noqa: SLF001 - PySpark does not tell
        try:
            with translated():
                settings = scala_object(jvm, "org.apache.spark.sql.internal.SQLConf$")
                return settings.getConfigEntry(_STATE_PARTITIONS) is not None
        except HeadgateError:
            return False

    def repartition(self, query: Any, partitions: int) -> None:
        """Let Spark do it, where it can."""
        repartition = open_repartition(self._session)
        if repartition is None:
            message = (
                f"Spark {self._session.version} cannot spread state anew. Hint: it takes 4.2 or later, and RocksDB"
            )
            raise RefusedError(message)
        repartition.make(checkpoint_of(query), partitions)

    def leftovers(self, query: Any) -> Sequence[str]:
        """Look beside it."""
        return leftovers(HadoopFiles(self._session), checkpoint_of(query))
