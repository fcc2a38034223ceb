"""What the events of one application add up to: its executors, its queries, their batches and failures. No I/O."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from headgate.engines.spark.application import Executors, RunningQuery
from headgate.engines.spark.outside.event_log import Event
from headgate.engines.spark.outside.guesses import QueryGuesses
from headgate.engines.spark.outside.work import BatchWork
from headgate.engines.spark.progress import Circumstances, query_of, read_batch
from headgate.model.micro_batch import MicroBatch
from headgate.model.rollback import JobFailure

_FAILURES = 100
_FRAMES = ("at ", "File ", "...", "^", "Traceback ", "~")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedBatch:
    """A batch, and the executors that were alive when it ended."""

    batch: MicroBatch
    executors: Executors


@dataclass(slots=True, kw_only=True)
class Ledger:
    """
    Takes events in their order.

    Attributes:
        started_at: when the application was started; None before that event.
        settings: the application's own, by Spark's names.
        queries: those that are active, by run id.
        failures: queries that an exception terminated, oldest first.
        over: whether the application has ended.
    """

    started_at: datetime | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    queries: dict[str, RunningQuery] = field(default_factory=dict)
    failures: deque[JobFailure] = field(default_factory=lambda: deque(maxlen=_FAILURES))
    over: bool = False
    _cores: dict[str, int] = field(default_factory=dict)
    _changed_at: datetime | None = None
    _runs: dict[str, str] = field(default_factory=dict)
    """Run id of each active query, by the query's own id."""
    _work: BatchWork = field(default_factory=BatchWork)
    _guesses: defaultdict[str, QueryGuesses] = field(default_factory=lambda: defaultdict(QueryGuesses))
    _ended: list[EndedBatch] = field(default_factory=list)
    _now: datetime | None = None
    """Of the latest event that tells its time."""

    def note(self, event: Event) -> None:
        """Take an event in; one that lacks what its kind should have changes nothing."""
        with suppress(Exception):  # another Spark may write anything
            self._note(event)

    @property
    def executors(self) -> Executors | None:
        """Which executors there are; None while the application has not begun."""
        if self.started_at is None:
            return None
        return Executors(
            ids=tuple(self._cores),
            cores_each=min(self._cores.values(), default=self._setting("spark.executor.cores")),
            changed_at=self._changed_at or self.started_at,
            task_cpus=self._setting("spark.task.cpus"),
        )

    def _setting(self, key: str) -> int:
        """Give a number of cores; 1, Spark's own default, where there is none."""
        told = self.settings.get(key, "")
        return max(int(told), 1) if told.isdecimal() else 1

    def take_batches(self) -> list[EndedBatch]:
        """Give the batches that ended since the last call, oldest first."""
        taken, self._ended = self._ended, []
        return taken

    def _note(self, event: Event) -> None:
        match event["Event"]:
            case "SparkListenerTaskEnd":
                self._work.end_task(event)
            case "SparkListenerJobStart":
                self._wait(self._runs.get(self._work.begin_job(event) or ""), waiting=False)
            case "QueryProgressEvent":
                self._progress(event["progress"])
            case "QueryIdleEvent":
                self._wait(str(event["runId"]), waiting=True)
            case "SparkListenerExecutorAdded":
                self._cores[str(event["Executor ID"])] = int(event["Executor Info"]["Total Cores"])
                self._changed_at = self._now = _instant(event["Timestamp"])
            case "SparkListenerExecutorRemoved":
                self._cores.pop(str(event["Executor ID"]), None)
                self._changed_at = self._now = _instant(event["Timestamp"])
            case _:
                self._note_rare(event)

    def _note_rare(self, event: Event) -> None:
        match event["Event"]:
            case "SparkListenerApplicationStart":
                self.started_at = self._now = _instant(event["Timestamp"])
            case "SparkListenerApplicationEnd":
                self.over = True
            case "SparkListenerEnvironmentUpdate":
                self.settings = dict(event["Spark Properties"])
            case "QueryStartedEvent":
                self._begin_query(event)
            case "QueryTerminatedEvent":
                self._end_query(event)

    def _begin_query(self, event: Event) -> None:
        self._now = datetime.fromisoformat(event["timestamp"]).astimezone(UTC)
        run = str(event["runId"])
        self._work.drop(str(event["id"]))  # what a run before has not finished
        self._runs[str(event["id"])] = run
        self.queries[run] = RunningQuery(query=query_of(event), run_id=run, started_at=self._now, waiting=True)

    def _wait(self, run: str | None, *, waiting: bool) -> None:
        if run in self.queries:
            self.queries[run] = replace(self.queries[run], waiting=waiting)

    def _progress(self, progress: Mapping[str, Any]) -> None:
        run = str(progress["runId"])
        self._wait(run, waiting=True)
        executors, guesses = self.executors, self._guesses[query_of(progress)]
        stages = self._work.take((str(progress["id"]), int(progress["batchId"])))
        if executors is None:
            return
        around = Circumstances(cores=executors.cores, stages=stages, settings=guesses.settings)
        batch = read_batch(progress, around)
        if batch is not None:
            guesses.note(batch)
            self._now = batch.started_at + batch.duration
            self._ended.append(EndedBatch(batch=batch, executors=executors))

    def _end_query(self, event: Event) -> None:
        run = str(event["runId"])
        query = self.queries.pop(run, None)
        if self._runs.get(str(event["id"])) == run:
            self._work.drop(str(event["id"]))
            del self._runs[str(event["id"])]
        # The event has no time of its own: it is taken to be that of the one before it.
        if event.get("exception") and self._now is not None:
            name = query.query if query else str(event["id"])
            self.failures.append(JobFailure(at=self._now, text=f"{name}: {_without_frames(event['exception'])}"))


def _instant(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _without_frames(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(_FRAMES))
