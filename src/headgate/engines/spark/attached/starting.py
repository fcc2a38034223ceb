"""With which trigger and limits a query was started, from the query itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

from py4j.protocol import Py4JError

from headgate.engines.spark.application import QuerySettings

_TRIGGER = re.compile(r"ProcessingTimeTrigger\((\d+)\)")
_ROWS = re.compile(r"MaxRows: (\d+)")
_OTHERS = re.compile(r"MaxFiles|MaxBytes")
_ROW_OPTIONS = ("maxRowsPerTrigger", "maxOffsetsPerTrigger")
"""What sources call their limit that Spark does not know of: Python sources before 4.2 keep it themselves."""


def settings_of(query: Any) -> QuerySettings:
    """
    Read what an active query tells; it has run a batch, so its sources are known.

    Args:
        query: a Java object, as its session has it or as those that all sessions share are listed.
    """
    execution = execution_of(query)
    limits = _limits(execution)
    rows = [int(limit) for limit in _ROWS.findall(limits)] or list(_declared(execution))
    return QuerySettings(
        interval=_interval(execution.trigger().toString()),
        row_limit=sum(rows) or None,
        takes_all=not rows and not _OTHERS.search(limits),
    )


def execution_of(query: Any) -> Any:
    """Give what runs a query: its session has it wrapped, the list that all sessions share has it bare."""
    with suppress(Py4JError):
        return query.streamingQuery()
    return query


def _interval(trigger: str) -> timedelta | None:
    found = _TRIGGER.fullmatch(trigger)
    return timedelta(milliseconds=int(found[1])) or None if found else None


def _limits(execution: Any) -> str:
    """Give what each source is asked to take at most, in Spark's words; empty where this version does not tell."""
    with suppress(Py4JError):
        return str(execution.uniqueSources().values().mkString("|"))
    return ""


def _declared(execution: Any) -> Iterator[int]:
    """Give the limits that stand among the options of the sources."""
    with suppress(Py4JError):
        leaves = execution.analyzedPlan().collectLeaves()
        for index in range(leaves.size()):
            yield from _of_leaf(leaves.apply(index))


def _of_leaf(leaf: Any) -> Iterator[int]:
    with suppress(Py4JError):  # not every leaf is a source
        found = (leaf.extraOptions().get(name) for name in _ROW_OPTIONS)
        yield from (int(value) for value in found if value and str(value).isdigit())
