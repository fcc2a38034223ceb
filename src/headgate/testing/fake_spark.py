"""A Spark standalone cluster that is not there: a master's web page on loopback, and event logs that grow on demand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from headgate.testing.fake_web import FakeWeb, WebAnswer, WebRequest

_LISTENER = "org.apache.spark.sql.streaming.StreamingQueryListener$"
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeBatch:
    """What one batch of a query is to be."""

    rows: int = 100
    duration: timedelta = timedelta(seconds=1)
    tasks: tuple[int, ...] = (4,)
    """Of each stage; the second reads what the first shuffles."""
    task_time: timedelta = timedelta(milliseconds=200)
    """Of each task."""
    lag: int | None = 0
    """Rows left over; None: the source does not tell."""


@dataclass(slots=True, kw_only=True)
class FakeQuery:
    """A streaming query of a fake application."""

    name: str
    run_id: str
    batches: int = 0
    offset: int = 0


@dataclass(slots=True, kw_only=True)
class FakeSparkApplication:
    """
    An application that logs what it is told to have done, by its own clock.

    Attributes:
        now: the clock; whoever has something happen moves it on.
    """

    id: str
    name: str
    log: Path
    now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)
    settings: Mapping[str, str] = field(default_factory=dict)
    executors: list[str] = field(default_factory=list)
    queries: dict[str, FakeQuery] = field(default_factory=dict)
    _executors: int = 0
    _numbers: int = 0

    def __post_init__(self) -> None:
        """Begin the log."""
        start = {"App Name": self.name, "App ID": self.id, "Timestamp": self._ms()}
        self.write("SparkListenerApplicationStart", start)
        self.write("SparkListenerEnvironmentUpdate", {"Spark Properties": dict(self.settings)})

    def write(self, event: str, content: Mapping[str, Any]) -> None:
        """Log an event."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"Event": event, **content}, separators=(",", ":")) + "\n")

    def add_executor(self, cores: int = 1) -> str:
        """Let one come."""
        name, self._executors = str(self._executors), self._executors + 1
        self.executors.append(name)
        told = {"Timestamp": self._ms(), "Executor ID": name, "Executor Info": {"Total Cores": cores}}
        self.write("SparkListenerExecutorAdded", told)
        return name

    def remove_executor(self, name: str) -> None:
        """Let one go."""
        self.executors.remove(name)
        self.write("SparkListenerExecutorRemoved", {"Timestamp": self._ms(), "Executor ID": name})

    def start_query(self, name: str) -> None:
        """Start a query, or start it again."""
        self._numbers += 1
        known = self.queries.get(name)
        self.queries[name] = FakeQuery(
            name=name,
            run_id=f"run-{self._numbers}",
            batches=known.batches if known else 0,
            offset=known.offset if known else 0,
        )
        content = {"id": name, "runId": self.queries[name].run_id, "name": name, "timestamp": _text(self.now)}
        self.write(f"{_LISTENER}QueryStartedEvent", content)

    def run_batch(self, name: str, batch: FakeBatch | None = None) -> None:
        """Let a query run a batch; the clock goes on by its duration."""
        query, work = self.queries[name], batch or FakeBatch()
        begun, self.now = self.now, self.now + work.duration
        self._run_job(query, work)
        self.write(f"{_LISTENER}QueryProgressEvent", {"progress": _progress(query, work, begun)})
        query.batches += 1
        query.offset += work.rows

    def fail_query(self, name: str, text: str) -> None:
        """Let an exception terminate a query."""
        query = self.queries.pop(name)
        content = {"id": name, "runId": query.run_id, "exception": f"{text}\n\tat somewhere.in.Java(File.java:1)\n"}
        self.write(f"{_LISTENER}QueryTerminatedEvent", content)

    def end(self) -> None:
        """Let the application end; its log gets its final name."""
        self.write("SparkListenerApplicationEnd", {"Timestamp": self._ms()})
        self.log = self.log.rename(self.log.with_suffix(""))

    def _run_job(self, query: FakeQuery, work: FakeBatch) -> None:
        self._numbers += len(work.tasks)
        stages = [self._numbers - len(work.tasks) + index for index in range(len(work.tasks))]
        told = [
            {"Stage ID": stage, "Number of Tasks": tasks, "Parent IDs": stages[:index][-1:]}
            for index, (stage, tasks) in enumerate(zip(stages, work.tasks, strict=True))
        ]
        properties = {
            "spark.jobGroup.id": query.run_id,
            "streaming.sql.batchId": str(query.batches),
            "sql.streaming.queryId": query.name,
        }
        job = {"Job ID": self._numbers, "Stage Infos": told, "Properties": properties}
        self.write("SparkListenerJobStart", job)
        for stage, tasks in zip(stages, work.tasks, strict=True):
            spent = {"Executor Run Time": int(work.task_time / _MS)}
            task = {"Stage ID": stage, "Task End Reason": {"Reason": "Success"}, "Task Metrics": spent}
            for _ in range(tasks):
                self.write("SparkListenerTaskEnd", task)

    def _ms(self) -> int:
        return int(self.now.timestamp() * 1000)


class FakeSpark:
    """
    The cluster; use it as an async context manager.

    Attributes:
        log_dir: where its applications write their event logs.
        applications: those that run, by id.
        workers: the number of cores of each that is alive.
        worker_mb: memory of each.
        executor_mb: memory of each executor.
        status: of the master.
        url: of the master's page, within the context.
    """

    def __init__(self, log_dir: Path) -> None:
        """Begin to serve with the context."""
        self.log_dir = log_dir
        self.applications: dict[str, FakeSparkApplication] = {}
        self.workers: list[int] = [1]
        self.worker_mb = 1024
        self.executor_mb = 512
        self.status = "ALIVE"
        self.web = FakeWeb()
        self.web.answering = self._answer
        self._silent: WebAnswer | None = None
        self._started = 0

    @property
    def url(self) -> str:
        """Of the master's page."""
        return self.web.url

    async def __aenter__(self) -> Self:
        """Serve on a free port."""
        await self.web.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Stop."""
        await self.web.__aexit__(*failure)

    def start(self, name: str, *, settings: Mapping[str, str] | None = None) -> str:
        """Start an application, and give its id."""
        self._started += 1
        made = f"app-20260101120000-{self._started:04}"
        log = self.log_dir / f"{made}.inprogress"
        self.applications[made] = FakeSparkApplication(
            id=made, name=name, log=log, settings={"spark.executor.cores": "1", **(settings or {})}
        )
        return made

    def end(self, application: str) -> None:
        """Let an application end."""
        self.applications.pop(application).end()

    def say_instead(self, answer: WebAnswer) -> None:
        """Let the master say this from now on, whatever it is asked."""
        self._silent = answer

    def _answer(self, request: WebRequest) -> WebAnswer:
        if self._silent is not None:
            return self._silent
        if request.path != "/json/":
            return WebAnswer(status=404)
        return WebAnswer(
            text=json.dumps({"activeapps": self._active(), "workers": self._alive(), "status": self.status})
        )

    def _active(self) -> list[Mapping[str, Any]]:
        return [
            {
                "id": one.id,
                "name": one.name,
                "state": "RUNNING",
                "starttime": 1767268800000 + number,
                "memoryperexecutor": self.executor_mb,
            }
            for number, one in enumerate(self.applications.values())
        ]

    def _alive(self) -> list[Mapping[str, Any]]:
        return [
            {"id": f"worker-{number}", "cores": cores, "memory": self.worker_mb, "state": "ALIVE"}
            for number, cores in enumerate(self.workers)
        ]


def _progress(query: FakeQuery, work: FakeBatch, begun: datetime) -> Mapping[str, Any]:
    end = query.offset + work.rows
    source = {
        "description": "fake",
        "startOffset": json.dumps({"0": query.offset}),
        "endOffset": json.dumps({"0": end}),
        "latestOffset": None if work.lag is None else json.dumps({"0": end + work.lag}),
        "numInputRows": work.rows,
    }
    duration = int(work.duration / _MS)
    return {
        "id": query.name,
        "runId": query.run_id,
        "name": query.name,
        "timestamp": _text(begun),
        "batchId": query.batches,
        "batchDuration": duration,
        "durationMs": {"triggerExecution": duration, "addBatch": duration},
        "stateOperators": [],
        "sources": [source],
    }


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
