"""Headgate: an autoscaler for streaming jobs that explains itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgate.agent.attaching import Agent

__version__ = "0.1.0"
__all__ = ["attach"]


def attach(target: Any, options: Mapping[str, Any] | None = None) -> Agent:
    """
    Scale the executors of this PySpark application by what its streaming queries need.

    Args:
        target: the `SparkSession`, or one of its streaming queries: then the others do not count.
        options: `job.autoscaler.*` and the agent's own, as texts or as values of Python; they win over the session's
            `spark.headgate.*`.

    Returns:
        What works from now on; an application that has an agent already gives that one.

    Raises:
        UnsupportedError: a Spark Connect session, a managed runtime, or a Spark that is too old.
        ConfigError: the options hold faults, all of them named.
        ConflictError: an agent of this application was closed, and what it began has not ended yet.
    """
    from headgate.agent.attaching import attach  # noqa: PLC0415 - who only scales Flink jobs has no use for it

    return attach(target, options)
