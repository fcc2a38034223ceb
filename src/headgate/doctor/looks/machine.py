"""Looks at this machine: a Java, a PySpark, and on demand whether the two start together."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from headgate.doctor.facts import MachineFacts, Tried
from headgate.engines.flink.local.java import find_java
from headgate.errors import HeadgateError
from headgate.options.service import Pipeline, ServiceOptions


def look_at_machine(options: ServiceOptions, *, deep: bool) -> MachineFacts:
    """
    Look for what the pipeline needs; nothing where it runs in the process.

    Args:
        options: the service's.
        deep: whether to start Spark, which takes some seconds and a Java process.
    """
    if options.pipeline is Pipeline.IN_PROCESS:
        return MachineFacts()
    java, pyspark = _tried(_java), _tried(_pyspark)
    able = deep and java.fault is None and pyspark.fault is None
    return MachineFacts(java=java, pyspark=pyspark, session=_tried(lambda: _session(options)) if able else None)


def _tried(look: Callable[[], str]) -> Tried:
    try:
        return Tried(told=look())
    except (HeadgateError, ImportError, PackageNotFoundError) as error:
        return Tried(fault=str(error))


def _java() -> str:
    java = find_java()
    return f"Java {java.major} from {java.origin} in {java.home}"


def _pyspark() -> str:
    from headgate.pipeline.session import refuse_old  # noqa: PLC0415 - imports PySpark, which takes its time

    found = version("pyspark")
    refuse_old(found)
    return f"PySpark {found}"


def _session(options: ServiceOptions) -> str:
    from headgate.pipeline.packages import session_settings  # noqa: PLC0415 - see above
    from headgate.pipeline.session import open_session  # noqa: PLC0415 - see above

    session = open_session(options.spark_master, java_home=find_java().home, settings=session_settings(options))
    try:
        return f"Spark {session.version} started at {options.spark_master}"
    finally:
        session.stop()
