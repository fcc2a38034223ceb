"""
From micro-batches to samples: counters that only grow, what batches cost, and what executors that come or go cost.

A vertex has new values when a batch has begun or ended since the sample before. They are true when its rows were
counted, at its trigger: between two triggers lies exactly what arrived. An idle query's counters are true at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Self

from headgate.engines.spark.announced import Announcements
from headgate.engines.spark.application import Executors, RunningQuery
from headgate.engines.spark.changes import Changes, ended_at
from headgate.engines.spark.memory import QueryMemory, is_known
from headgate.engines.spark.names import topology_of, vertex_id
from headgate.model.identity import JobKey, VertexId
from headgate.model.lag import LagOrigin
from headgate.model.measures import JobMeasure, Measure
from headgate.model.micro_batch import MicroBatch
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.model.topology import Topology

_IDLE_AFTER = timedelta(seconds=2)
"""How long after its next trigger was due, at least, a query that waits counts as idle."""
_FIRST_AFTER = timedelta(seconds=10)
"""How long after its start, at least, a query that waits and had no batch counts as idle."""
_UNSEEN = -1
"""Epoch of a query without any batch: its first one may read what came long before."""
_LEAST_REFRESH = timedelta(seconds=1)
_REMEMBERED = 200
"""Queries that are remembered; of more those that have ended are forgotten, as they do not seem to come back."""
_PATIENT = timedelta(minutes=1)
_HANGING = 3
"""A batch under way that takes more than a minute and so many times as long as usual makes what is known stale."""
_EXECUTORS_WITHIN_S = 60.0
"""How long a cluster manager may take to start executors."""
_LEAST_PATIENCE = timedelta(seconds=5)
_BATCHES = 2
"""For how many usual periods the first batch on new executors is waited for; one that takes longer is late itself."""
_NO_LOAD = {Measure.LOAD: 0.0}
_NOTHING_LEFT = {**_NO_LOAD, Measure.LAG: 0.0, Measure.LAG_ORIGIN: float(LagOrigin.TRIGGER)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """Which batch a query's latest values were of."""

    run_id: str
    batch_id: int
    ended: bool
    """Whether it had ended, so that what it cost was told as well."""
    at: datetime
    """What the values were labelled with."""

    @classmethod
    def ended_with(cls, batch: MicroBatch, at: datetime) -> Self:
        return cls(run_id=batch.run_id, batch_id=batch.batch_id, ended=True, at=at)

    def is_of(self, batch: MicroBatch, *, ended: bool) -> bool:
        return (self.run_id, self.batch_id, self.ended) == (batch.run_id, batch.batch_id, ended)


class Sampler:
    """Takes the batches of one application's queries and gives samples of it; from any thread."""

    def __init__(self) -> None:
        """Know of no batch yet."""
        self._lock = Lock()
        self._queries: dict[str, QueryMemory] = {}
        self._told: dict[str, _Told] = {}
        """What each query's latest values were of."""
        self._announced = Announcements()
        self._changes = Changes()

    def hear(self, queries: Sequence[RunningQuery]) -> None:
        """Take in what active queries say of the batches that they have planned; before the batches that have ended."""
        with self._lock:
            self._announced.hear(queries)

    def note(self, batch: MicroBatch, executors: Executors) -> None:
        """
        Take in a batch; one that was told of before is left out.

        Args:
            batch: of one query each comes after those before it; whether it was warming is told here.
            executors: those alive when it ended, or soon after.
        """
        with self._lock:
            before = self._queries.get(batch.query)
            if before is not None and is_known(batch, before.latest):
                return
            batch = replace(batch, warming=self._changes.warms(batch, before.latest if before else None, executors))
            after = before.noting(batch) if before else QueryMemory.begun(batch)
            self._queries[batch.query] = after
            self._announced.compare(batch)
            self._changes.note(batch, after.predicted)

    def sample(
        self, job: JobKey, at: datetime, *, job_id: str, executors: Executors, queries: Sequence[RunningQuery]
    ) -> JobSample:
        """
        Give what is known at an instant.

        Args:
            job: whose sample it is.
            at: the tick; by the same clock as the batches.
            job_id: of the application as it runs now.
            executors: those alive now.
            queries: those active now; of others nothing is told.
        """
        with self._lock:
            self._forget_ended(queries)
            memories = self._memories(queries)
            return JobSample(
                job=job,
                at=at,
                job_id=job_id,
                running_since=self._changes.settled_at(executors, queries, at, patience=_patience(memories.values())),
                topology=_topology(queries, self._queries, executors),
                vertices=self._vertices(queries, at),
                settings=_settings(self._refresh(queries, at), executors),
                slots_total=executors.cores,
                slots_free=0,
                values=self._values(memories),
            )

    def topology(self, executors: Executors, queries: Sequence[RunningQuery]) -> Topology:
        """Give the graph, as `sample` would."""
        with self._lock:
            return _topology(queries, self._queries, executors)

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self._queries.clear()
            self._told.clear()
            self._announced = Announcements()
            self._changes = Changes()

    def _forget_ended(self, queries: Sequence[RunningQuery]) -> None:
        if len(self._queries) > _REMEMBERED:
            for ended in self._queries.keys() - {query.query for query in queries}:
                del self._queries[ended]
                self._told.pop(ended, None)

    def _memories(self, queries: Sequence[RunningQuery]) -> Mapping[str, QueryMemory]:
        return {query.query: self._queries[query.query] for query in queries if query.query in self._queries}

    def _vertices(self, queries: Sequence[RunningQuery], at: datetime) -> Mapping[VertexId, VertexSample]:
        samples: dict[VertexId, VertexSample] = {}
        for query in queries:
            memory = self._queries.get(query.query)
            if _had_no_batch(query, memory):
                samples |= self._of_unstarted(query, memory, at)
            elif memory is not None:
                samples |= self._of_started(query, memory, at)
        return samples

    def _of_started(self, query: RunningQuery, memory: QueryMemory, at: datetime) -> Mapping[VertexId, VertexSample]:
        """Give the stages of a query that had a batch in this run; none where nothing is new of it."""
        batch, told = memory.latest, self._told.get(query.query)
        begun = self._announced.after(batch)
        if begun is not None and (told is None or told.at < begun.at):
            self._told[query.query] = _Told(run_id=batch.run_id, batch_id=begun.batch_id, ended=False, at=begun.at)
            return _stages(query.query, memory.anticipating(begun), begun.at, {})
        is_new = told is None or not told.is_of(batch, ended=True)
        if not is_new and not _is_idle(query, batch, at):
            return {}
        measured_at = at
        if is_new:
            memory, measured_at = self._labelled(query.query, memory)
        self._told[query.query] = _Told.ended_with(batch, measured_at)
        return _stages(query.query, memory, measured_at, {} if is_new else _NO_LOAD)

    def _labelled(self, query: str, memory: QueryMemory) -> tuple[QueryMemory, datetime]:
        """Give when the latest batch's rows were counted; in another epoch where it is not known what lies between."""
        batch, told = memory.latest, self._told.get(query)
        if told is not None and told.is_of(batch, ended=False):
            return memory, told.at
        if told is not None and batch.started_at <= told.at:
            # It was taken for idle though a report was on its way.
            memory = self._queries[query] = replace(memory, epoch=memory.epoch + 1)
        return memory, batch.started_at

    def _of_unstarted(
        self, query: RunningQuery, memory: QueryMemory | None, at: datetime
    ) -> Mapping[VertexId, VertexSample]:
        """Give the stages of a query that found nothing to do since its start; none before it had the time to look."""
        interval = (memory.latest.interval if memory else None) or timedelta()
        if not query.waiting or at <= query.started_at + max(interval, _FIRST_AFTER):
            return {}
        if memory is not None:
            self._told[query.query] = _Told.ended_with(memory.latest, at)
            return _stages(query.query, memory, at, _NOTHING_LEFT)
        values = {Measure.NUM_RECORDS_IN: 0.0, Measure.ACCUMULATED_BUSY_TIME: 0.0, **_NOTHING_LEFT}
        return {vertex_id(query.query, 0): VertexSample(measured_at=at, epoch=_UNSEEN, values=values)}

    def _refresh(self, queries: Sequence[RunningQuery], at: datetime) -> timedelta:
        """Give how far apart new values are at most, by the batches there were and those under way."""
        known = [(query, self._queries[query.query]) for query in queries if query.query in self._queries]
        return max([_LEAST_REFRESH, *(self._period(query, memory, at) for query, memory in known)])

    def _period(self, query: RunningQuery, memory: QueryMemory, at: datetime) -> timedelta:
        """Give how far apart a query's values are; a batch under way counts, but one that hangs makes nothing fresh."""
        lasted = max(memory.period, memory.latest.duration)
        if query.waiting or query.run_id != memory.latest.run_id:
            return lasted
        told = self._told.get(query.query)
        under_way = at - max(ended_at(memory.latest), told.at if told else at)
        return max(lasted, min(under_way, max(_PATIENT, _HANGING * lasted)))

    def _values(self, memories: Mapping[str, QueryMemory]) -> Mapping[JobMeasure, float]:
        state = {JobMeasure.STATE_SIZE: float(sum(one.latest.state_bytes for one in memories.values()))}
        lost = self._changes.lost
        return {
            **(state if memories else {}),
            **({} if lost is None else {JobMeasure.LAST_DOWNTIME: lost.total_seconds()}),
        }


def _had_no_batch(query: RunningQuery, memory: QueryMemory | None) -> bool:
    return memory is None or memory.latest.run_id != query.run_id


def _is_idle(query: RunningQuery, batch: MicroBatch, at: datetime) -> bool:
    """Tell whether nothing has come since a batch of this run: the next trigger found nothing to do."""
    interval = batch.interval or timedelta()
    due_at = batch.started_at + max(interval, batch.duration)
    return query.waiting and at > due_at + max(interval, _IDLE_AFTER)


def _topology(queries: Sequence[RunningQuery], known: Mapping[str, QueryMemory], executors: Executors) -> Topology:
    stages = {query.query: known[query.query].stages if query.query in known else 1 for query in queries}
    return topology_of(stages, executors.cores)


def _stages(
    query: str, memory: QueryMemory, measured_at: datetime, instead: Mapping[Measure, float]
) -> Mapping[VertexId, VertexSample]:
    return {
        vertex_id(query, stage): VertexSample(
            measured_at=measured_at, epoch=memory.epoch, values={**memory.measures(stage), **instead}
        )
        for stage in range(memory.stages)
    }


def _patience(memories: Iterable[QueryMemory]) -> timedelta:
    """Give how long a first batch on new executors is waited for."""
    return max([_LEAST_PATIENCE, *(_BATCHES * memory.period for memory in memories)])


def _settings(refresh: timedelta, executors: Executors) -> EngineSettings:
    return EngineSettings(
        shared_workers=True,
        adaptive=True,
        rescale_cooldown_s=0.0,
        resource_stabilization_s=_EXECUTORS_WITHIN_S,
        metric_refresh_s=refresh.total_seconds(),
        slots_per_task_manager=executors.slots_each,
    )
