"""
From micro-batches to samples: counters that only grow, what batches cost, and what executors that come or go cost.

A vertex has new values when a batch has ended since the sample before. They are true at that batch's trigger, when its
rows were counted: between two triggers lies exactly what arrived. An idle query's counters are true at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock

from headgate.engines.spark.application import Executors, RunningQuery
from headgate.engines.spark.changes import Changes
from headgate.engines.spark.memory import QueryMemory, is_known
from headgate.engines.spark.names import topology_of, vertex_id
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobMeasure
from headgate.model.micro_batch import MicroBatch
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.model.topology import Topology

_IDLE_AFTER = timedelta(seconds=2)
"""How long after its next trigger was due, at least, a query that waits counts as idle."""
_LEAST_REFRESH = timedelta(seconds=1)
_EXECUTORS_WITHIN_S = 60.0
"""How long a cluster manager may take to start executors."""


class Sampler:
    """Takes the batches of one application's queries and gives samples of it; from any thread."""

    def __init__(self) -> None:
        """Know of no batch yet."""
        self._lock = Lock()
        self._queries: dict[str, QueryMemory] = {}
        self._sampled: dict[str, tuple[datetime, datetime]] = {}
        """Of each query the trigger of the batch last told of, and the instant that this was labelled with."""
        self._changes = Changes()

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
            memories = self._memories(queries)
            return JobSample(
                job=job,
                at=at,
                job_id=job_id,
                running_since=self._changes.settled_at(executors, queries, at),
                topology=_topology(queries, self._queries, executors),
                vertices=self._vertices(queries, at),
                settings=_settings(memories.values(), executors),
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
            self._sampled.clear()
            self._changes = Changes()

    def _memories(self, queries: Sequence[RunningQuery]) -> Mapping[str, QueryMemory]:
        return {query.query: self._queries[query.query] for query in queries if query.query in self._queries}

    def _vertices(self, queries: Sequence[RunningQuery], at: datetime) -> Mapping[VertexId, VertexSample]:
        samples: dict[VertexId, VertexSample] = {}
        for query in queries:
            memory = self._queries.get(query.query)
            if memory is None or (measured_at := self._measured_at(query, memory, at)) is None:
                continue
            self._sampled[query.query] = memory.latest.started_at, measured_at
            for stage in range(memory.stages):
                samples[vertex_id(query.query, stage)] = VertexSample(
                    measured_at=measured_at, epoch=memory.epoch, values=memory.measures(stage)
                )
        return samples

    def _measured_at(self, query: RunningQuery, memory: QueryMemory, at: datetime) -> datetime | None:
        """Give from when a query's values are; None when they are those of the sample before."""
        batch, before = memory.latest, self._sampled.get(query.query)
        if before is None or before[0] != batch.started_at:
            return batch.started_at if before is None else max(batch.started_at, before[1] + datetime.resolution)
        return at if _is_idle(query, batch, at) and at > before[1] else None

    def _values(self, memories: Mapping[str, QueryMemory]) -> Mapping[JobMeasure, float]:
        state = {JobMeasure.STATE_SIZE: float(sum(one.latest.state_bytes for one in memories.values()))}
        lost = self._changes.lost
        return {
            **(state if memories else {}),
            **({} if lost is None else {JobMeasure.LAST_DOWNTIME: lost.total_seconds()}),
        }


def _is_idle(query: RunningQuery, batch: MicroBatch, at: datetime) -> bool:
    """Tell whether nothing has come since a batch: it ended in this run, and the next trigger found nothing to do."""
    interval = batch.interval or timedelta()
    due_at = batch.started_at + max(interval, batch.duration)
    return query.waiting and query.run_id == batch.run_id and at > due_at + max(interval, _IDLE_AFTER)


def _topology(queries: Sequence[RunningQuery], known: Mapping[str, QueryMemory], executors: Executors) -> Topology:
    stages = {query.query: known[query.query].stages if query.query in known else 1 for query in queries}
    return topology_of(stages, executors.cores)


def _settings(memories: Iterable[QueryMemory], executors: Executors) -> EngineSettings:
    refresh = max([_LEAST_REFRESH, *(memory.period for memory in memories)])
    return EngineSettings(
        shared_workers=True,
        adaptive=True,
        rescale_cooldown_s=0.0,
        resource_stabilization_s=_EXECUTORS_WITHIN_S,
        metric_refresh_s=refresh.total_seconds(),
        slots_per_task_manager=executors.slots_each,
    )
