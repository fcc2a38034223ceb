"""Builds the Spark session, in this one place: loopback only, quiet, small shuffles, UTC."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import SparkSession

from headgate.errors import UnreachableError, UnsupportedError
from headgate.pipeline.shipping import ship

_Setting = bool | float | int | str | None

_OLDEST = 4
"""Major version of the oldest PySpark whose functions the pipeline uses."""
_LOOPBACK = "127.0.0.1"
_PYTHON = "PYSPARK_PYTHON"
_LACKING = re.compile(r"No module named '([^'.]+)")
_LOCAL = {
    "spark.driver.host": _LOOPBACK,
    "spark.driver.bindAddress": _LOOPBACK,
    # Each part of a shuffle costs some milliseconds a cycle, whether it holds anything or not.
    "spark.sql.shuffle.partitions": "2",
}

NOTHING: Mapping[str, str] = {}

_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")


def open_session(
    master: str = "local[*]", *, java_home: Path | None = None, settings: Mapping[str, str] = NOTHING
) -> SparkSession:
    """
    Start Spark, or give the session that this process has already.

    It sets the environment variables that the JVM and the Python workers start with. Workers on other machines get
    Headgate as an archive; the libraries that it needs there, and the log, they must have.

    Args:
        master: any Spark master.
        java_home: a Java 17 or newer; None leaves `JAVA_HOME` and the path to decide.
        settings: of Spark, by their own names; they win over ours. `spark.pyspark.python` is the workers' Python.

    Raises:
        UnsupportedError: this PySpark is none that the pipeline works with.
        UnreachableError: Java did not start, or the master did not answer.
    """
    refuse_old(pyspark.__version__)
    local = master.startswith("local")
    _set_environment(java_home, python=workers_python(settings, local=local), local=local)
    with reported(f"Spark at {master} cannot be started (it needs Java 17 or newer)"):
        session = _builder(master, {**_settings(local=local), **settings}).getOrCreate()
        if not local:
            ship(session)
        return session


def refuse_old(version: str) -> None:
    """
    Let only versions of PySpark pass that the pipeline works with; attached agents are content with older ones.

    Raises:
        UnsupportedError: it is older than 4.
    """
    if int(version.partition(".")[0]) < _OLDEST:
        message = (
            f"the pipeline needs PySpark {_OLDEST} or later, this is {version}. "
            "Hint: install a later one, or set `pipeline: in-process`"
        )
        raise UnsupportedError(message)


@contextmanager
def in_pool(session: SparkSession, name: str) -> Iterator[None]:
    """Let what this thread asks of Spark take turns with the others, instead of standing in one line with them."""
    _enter(session, name)
    try:
        yield
    finally:
        _enter(session, "default")


@contextmanager
def tagged(session: SparkSession, tag: str) -> Iterator[None]:
    """
    Mark what this thread asks of Spark, for `SparkContext.cancelJobsWithTag`, which then interrupts its tasks, too.

    Raises:
        UnreachableError: Spark does not answer.
    """
    context = session.sparkContext
    with reported("Spark does not answer"):
        context.addJobTag(tag)
        # A task that waits for its storage would go on to take a core.
        context.setInterruptOnCancel(True)
    try:
        yield
    finally:
        with suppress(AttributeError, Py4JError, OSError):  # the thread outlives the session, which may be dead by now
            context.removeJobTag(tag)
            context.setInterruptOnCancel(False)


def _enter(session: SparkSession, pool: str) -> None:
    with suppress(AttributeError):  # of a session that was stopped: whatever is asked of it says so itself
        session.sparkContext.setLocalProperty("spark.scheduler.pool", pool)


@contextmanager
def reported(what: str) -> Iterator[None]:
    """Turn whatever Spark raises into an `UnreachableError` of one line that begins with what could not be done."""
    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        message = f"{what}: {_essence(error)}"
        raise UnreachableError(message) from error


def _essence(error: Exception) -> str:
    """Give the line of a Spark error that says something; the last one of a Python worker's traceback."""
    if lacking := _LACKING.search(str(error)):
        return (
            f"the Python of Spark's workers has no {lacking[1]}. "
            "Hint: install it there, or name one that has it in `spark.settings`, as `spark.pyspark.python`"
        )
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("JVM stacktrace")]
    if not lines:
        return type(error).__name__
    return lines[-1] if isinstance(error, PythonException) else lines[0]


def _builder(master: str, settings: dict[str, _Setting]) -> SparkSession.Builder:
    builder: SparkSession.Builder = SparkSession.builder
    return builder.master(master).appName("headgate").config(map=settings)


def workers_python(settings: Mapping[str, str], *, local: bool) -> str:
    """Choose the workers' Python: here it must be this very interpreter, elsewhere nobody knows of it."""
    usual = sys.executable if local else os.environ.get(_PYTHON, "python3")
    return settings.get("spark.pyspark.python", usual)


def _set_environment(java_home: Path | None, *, python: str, local: bool) -> None:
    # PySpark reads the setting of the same meaning only where `spark-submit` has started it.
    os.environ[_PYTHON] = python
    if local:
        os.environ["SPARK_LOCAL_IP"] = _LOOPBACK
    if java_home is not None:
        os.environ["JAVA_HOME"] = str(java_home)
    logging.getLogger("py4j").setLevel(logging.ERROR)


def _settings(*, local: bool) -> dict[str, _Setting]:
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}",
        "spark.sql.session.timeZone": "UTC",
        # A tick's file is small, its opening is cheap here: let the rows decide how the files are split.
        "spark.sql.files.openCostInBytes": str(64 * 1024),
        # The window's files are named one by one; listing them must not become a Spark job of its own.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        # Looking up the caller of each of a hundred column functions costs more than the rest of the driver's work.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # What is learnt beside the cycles must not hold them up.
        "spark.scheduler.mode": "FAIR",
        # Windows reduce to few rows whatever the load: planning anew between the stages finds nothing and takes time.
        "spark.sql.adaptive.enabled": "false",
        **(_LOCAL if local else {}),
    }
