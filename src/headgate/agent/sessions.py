"""What an agent asks of the session that it is given; no Spark job runs for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What was attached to."""

    session: SparkSession
    query: str | None
    """Name, or else the id, of the only query that counts; None: all do."""


def target_of(target: Any) -> Target:
    """Take a session as it is, and of a query the session that it runs in."""
    if isinstance(target, SparkSession):
        return Target(session=target, query=None)
    java_session = target._jsq.sparkSession()  # noqa: SLF001 - PySpark's query does not tell its session
    active = SparkSession.getActiveSession()
    context = active.sparkContext if active else SparkSession.builder.getOrCreate().sparkContext
    return Target(session=SparkSession(context, java_session), query=target.name or str(target.id))


def configuration_of(session: SparkSession) -> Mapping[str, str]:
    """Give the whole configuration, that of the application under the session's own."""
    application = dict(session.sparkContext.getConf().getAll())
    runtime = session._jsparkSession.conf().getAll().iterator()  # noqa: SLF001 - PySpark 3.5 cannot list it
    own = {}
    while runtime.hasNext():
        pair = runtime.next()
        own[pair._1()] = pair._2()  # noqa: SLF001 - a tuple of Scala
    return {**application, **own}


def is_running(session: SparkSession) -> bool:
    """Tell whether the application has not ended; a JVM that does not answer has."""
    try:
        context: Any = session.sparkContext._jsc  # noqa: SLF001 - None after `stop()`
        return context is not None and not context.sc().isStopped()
    except Exception:  # noqa: BLE001 - whatever it is, there is nothing left to scale
        return False
