"""What an application and its agent do, as JSON lines for the test that started it: imported by the programs here."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headgate.agent.attached import Agent
from headgate.algorithm.explain import explain
from headgate.engines.spark.source.load import register

STOP = "stop"
"""A file of this name in its directory ends the application."""

_POLL_S = 0.5


class Diary:
    """Writes down what is new, until somebody asks the application to end."""

    def __init__(self, directory: Path, agent: Agent) -> None:
        """Begin with an empty page; one that a killed driver has left is kept."""
        self._path = directory / "diary.jsonl"
        self._stop = directory / STOP
        self._agent = agent
        self._told: set[Any] = set()
        self._last: dict[str, Any] = {}

    def keep(self, session: SparkSession, queries: Mapping[str, StreamingQuery]) -> None:
        """Write until told to stop, then end all queries and the application."""
        self.write("began", application=session.sparkContext.applicationId)
        while not self._stop.exists():
            self._look(session, queries)
            time.sleep(_POLL_S)
        for query in queries.values():
            query.stop()
        self._look(session, queries)
        self._agent.close()
        session.stop()
        self.write("ended")

    def write(self, what: str, **values: object) -> None:
        """Write one line."""
        line = json.dumps({"what": what, "at": datetime.now(UTC).isoformat(), **values}, default=str)
        with self._path.open("a", encoding="utf-8") as page:
            page.write(line + "\n")

    def _look(self, session: SparkSession, queries: Mapping[str, StreamingQuery]) -> None:
        self._note("executors", {"ids": executors(session)})
        for name, query in queries.items():
            progress = query.lastProgress
            if progress is not None:
                seen = {"query": name, "batch": progress["batchId"], "rows": progress["numInputRows"]}
                self._note(f"batch of {name}", seen, what="batch")
            if not query.isActive:
                self._note(
                    f"end of {name}", {"query": name, "failed": query.exception() is not None}, what="query ended"
                )
        self._look_at_agent()

    def _look_at_agent(self) -> None:
        for event in self._agent.events:
            if id(event) not in self._told:
                self._told.add(id(event))
                self.write("event", reason=event.reason, subject=str(event.subject), message=event.message)
        for decision in self._agent.decisions:
            if decision.id not in self._told:
                self._told.add(decision.id)
                self.write(
                    "decision",
                    outcome=decision.outcome,
                    reason=decision.reason,
                    message=decision.message,
                    acts=decision.acts,
                    current={each.vertex: each.current for each in decision.proposals},
                    wanted={each.vertex: each.wanted for each in decision.proposals},
                    names=[each.name for each in decision.proposals],
                    explained="\n".join(explain(decision)),
                )

    def _note(self, about: str, values: Mapping[str, object], what: str = "") -> None:
        if self._last.get(about) != values:
            self._last[about] = values
            self.write(what or about, **values)


def executors(session: SparkSession) -> list[str]:
    """Give the ids of the executors that are there, by the scheduler."""
    context: Any = session.sparkContext
    known = context._jsc.sc().getExecutorIds()
    return sorted(known.apply(index) for index in range(known.size()))


def load(session: SparkSession, profile: str, start: str, *, partitions: int = 6) -> DataFrame:
    """Read a stream that replays a load."""
    register(session)
    stream = session.readStream.format("headgate-load").option("profile", profile).option("start", start)
    return stream.option("partitions", partitions).load()
