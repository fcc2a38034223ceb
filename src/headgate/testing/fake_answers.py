"""The answers of a fake Flink, in the shape of Flink 2.3's own: every field that a client may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headgate.testing.fake_job import FakeJob, FakeVertex

_TASK_STATES = (
    "CREATED",
    "SCHEDULED",
    "DEPLOYING",
    "INITIALIZING",
    "RUNNING",
    "FINISHED",
    "CANCELING",
    "CANCELED",
    "FAILED",
    "RECONCILING",
)

WORKER_METRICS: Mapping[str, float] = {
    "Status.JVM.Memory.Heap.Max": 320 * 2**20,
    "Status.JVM.Memory.Heap.Used": 80 * 2**20,
    "Status.Flink.Memory.Managed.Used": 0.0,
    "Status.JVM.Memory.Metaspace.Used": 60 * 2**20,
    "Status.JVM.GarbageCollector.All.TimeMsPerSecond": 5.0,
}
"""What a TaskManager reports that has a quarter of its heap in use."""
WORKER_MEMORY = 800 * 2**20
"""Total process memory of a TaskManager, in bytes."""


def job_line(job: FakeJob) -> dict[str, Any]:
    """Give a job's line of `/jobs/overview`."""
    total = sum(vertex.parallelism for vertex in job.vertices)
    running = total - job.tasks_missing if job.state == "RUNNING" else 0
    counts = {"total": total, "running": running, "initializing": job.tasks_missing}
    return {
        "jid": job.job_id,
        "name": job.name,
        "jobType": "STREAMING",
        "schedulerType": job.scheduler,
        "start-time": job.submitted_at_ms,
        "end-time": -1 if job.state == "RUNNING" else job.now_ms,
        "duration": job.now_ms - job.submitted_at_ms,
        "state": job.state,
        "last-modification": job.running_since_ms,
        "tasks": {state.lower(): 0 for state in _TASK_STATES} | counts,
        "pending-operators": 0,
    }


def job_details(job: FakeJob) -> dict[str, Any]:
    """Give `/jobs/:id`."""
    answer = {
        "jid": job.job_id,
        "name": job.name,
        "isStoppable": False,
        "state": job.state,
        "job-type": "STREAMING",
        "schedulerType": job.scheduler,
        "start-time": job.submitted_at_ms,
        "end-time": -1,
        "duration": job.now_ms - job.submitted_at_ms,
        "maxParallelism": max(vertex.max_parallelism for vertex in job.vertices),
        "now": job.now_ms,
        "timestamps": {"RUNNING": job.running_since_ms, "CREATED": job.submitted_at_ms, "FAILED": 0},
        "vertices": [_vertex(vertex, job.now_ms) for vertex in job.vertices],
        "status-counts": _states(RUNNING=len(job.vertices)),
        "plan": plan(job),
        "pending-operators": 0,
    }
    if job.scheduler is None:
        del answer["schedulerType"]
    return answer


def plan(job: FakeJob) -> dict[str, Any]:
    """Give the plan, as `/jobs/:id` holds it."""
    nodes = [_node(vertex) for vertex in job.vertices]
    return {"jid": job.job_id, "name": job.name, "type": "STREAMING", "nodes": nodes}


def exceptions(job: FakeJob, most: int) -> dict[str, Any]:
    """Give `/jobs/:id/exceptions`: the latest failures, the last one first."""
    latest = job.failures[::-1]
    entries = [_failure(*failure) for failure in latest[:most]]
    return {"exceptionHistory": {"entries": entries, "truncated": len(latest) > most}}


def checkpoint_config(interval_ms: int) -> dict[str, Any]:
    """Give `/jobs/:id/checkpoints/config`."""
    return {
        "mode": "exactly_once",
        "interval": interval_ms,
        "timeout": 600_000,
        "min_pause": 0,
        "max_concurrent": 1,
        "externalization": {"enabled": False, "delete_on_cancellation": True},
        "unaligned_checkpoints": False,
        "tolerable_failed_checkpoints": 0,
    }


def requirements(job: FakeJob) -> dict[str, Any]:
    """Give `/jobs/:id/resource-requirements`."""
    return {
        vertex.id: {
            "parallelism": {
                "lowerBound": vertex.lower_bound,
                "upperBound": vertex.upper_bound or vertex.parallelism,
            }
        }
        for vertex in job.vertices
    }


def worker(name: str, slots: int) -> dict[str, Any]:
    """Give one line of `/taskmanagers`; its hardware is the machine's, not the TaskManager's share of it."""
    return {
        "id": name,
        "slotsNumber": slots,
        "freeSlots": 0,
        "hardware": {"cpuCores": 64, "physicalMemory": 256 * 2**30},
        "memoryConfiguration": {"totalFlinkMemory": 512 * 2**20, "totalProcessMemory": WORKER_MEMORY},
    }


def key_values(config: Mapping[str, str]) -> list[dict[str, str]]:
    """Give `/jobmanager/config`."""
    return [{"key": key, "value": value} for key, value in config.items()]


def single_values(metrics: Mapping[str, float | str], wanted: Sequence[str]) -> list[dict[str, str]]:
    """Give the values of the wanted metrics as texts; names only when nothing is wanted, unknown ones are skipped."""
    if not wanted:
        return [{"id": name} for name in metrics]
    return [{"id": name, "value": str(metrics[name])} for name in wanted if name in metrics]


def aggregates(metrics: Mapping[str, Sequence[float]], wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Give the wanted metrics over the subtasks; as in Flink one unknown name empties the answer."""
    if not wanted:
        return [{"id": name} for name in metrics]
    if any(name not in metrics for name in wanted):
        return []
    return [_aggregate(name, metrics[name]) for name in wanted]


def subtask_metrics(job: FakeJob, vertex: FakeVertex) -> dict[str, list[float]]:
    """Give every metric of a vertex with one value a subtask."""
    share = 1 / vertex.parallelism
    counted = [vertex.subtask(index) for index in range(vertex.parallelism)]
    rate = job.rates()[vertex.id]
    even: Callable[[float], list[float]] = lambda value: [value * share] * vertex.parallelism  # noqa: E731 -- short
    unknown = [float("nan")] * vertex.parallelism
    metrics = {
        "numRecordsIn": [0.0 if vertex.is_source else each.records_in for each in counted],
        "numRecordsOut": [each.records_out for each in counted],
        "numRecordsInPerSecond": even(0.0 if vertex.is_source else rate),
        "numRecordsOutPerSecond": even(rate * vertex.selectivity),
        "accumulateBusyTimeMs": [each.busy_ms for each in counted] if vertex.has_busy_time else unknown,
        "accumulateIdleTimeMs": [each.idle_ms for each in counted],
        "accumulateBackPressuredTimeMs": [each.backpressured_ms for each in counted],
        "busyTimeMsPerSecond": even(1000 * rate / vertex.capacity) if vertex.has_busy_time else unknown,
        "backPressuredTimeMsPerSecond": even(1000 * vertex.parallelism - 1000 * rate / vertex.capacity)
        if vertex.id in job.blocked()
        else even(0.0),
        "idleTimeMsPerSecond": even(0.0),
    }
    return metrics | (dict(_source_metrics(job, vertex, even)) if vertex.is_source else {})


def per_subtask(metrics: Mapping[str, Sequence[float]]) -> dict[str, float | str]:
    """Give the same metrics as `/vertices/:id/metrics` names them, the subtask in front."""
    return {
        f"{index}.{name}": "NaN" if value != value else value  # noqa: PLR0124 -- NaN alone differs from itself
        for name, values in metrics.items()
        for index, value in enumerate(values)
    }


def _source_metrics(
    job: FakeJob, vertex: FakeVertex, even: Callable[[float], list[float]]
) -> Iterator[tuple[str, list[float]]]:
    operator = f"{vertex.metric_prefix}{vertex.name.removeprefix('Source: ').replace(' ', '_')}"
    counted = [vertex.subtask(index) for index in range(vertex.parallelism)]
    yield f"{operator}.numRecordsIn", [each.records_in for each in counted]
    yield f"{operator}.numRecordsOut", [each.records_out for each in counted]
    yield f"{operator}.numRecordsInPerSecond", even(job.rates()[vertex.id])
    if vertex.has_lag:
        yield f"{operator}.pendingRecords", even(job.pending)
    yield from _kafka_metrics(vertex, f"{operator}.KafkaSourceReader")


def _kafka_metrics(vertex: FakeVertex, reader: str) -> Iterator[tuple[str, list[float]]]:
    for partition in range(vertex.partitions or 0):
        offset = vertex.emitted[partition] if vertex.emitted else 0.0
        yield f"{reader}.topic.input.partition.{partition}.currentOffset", [offset]
    for partition, offset in enumerate(vertex.committed):
        yield f"{reader}.topic.input.partition.{partition}.committedOffset", [offset]
    if vertex.assigned is not None:
        yield f"{reader}.KafkaConsumer.assigned-partitions", list(vertex.assigned)
    if vertex.connections is not None:
        yield f"{reader}.KafkaConsumer.connection-count", [vertex.connections]
    if vertex.fetch_bytes is not None:
        yield f"{reader}.KafkaConsumer.fetch-size-max", [vertex.fetch_bytes] * vertex.parallelism


def _failure(at_ms: int, stacktrace: str) -> dict[str, Any]:
    name = stacktrace.partition(":")[0]
    return {
        "exceptionName": name,
        "stacktrace": stacktrace,
        "timestamp": at_ms,
        "failureLabels": {},
        "concurrentExceptions": [],
    }


def _vertex(vertex: FakeVertex, now_ms: int) -> dict[str, Any]:
    state = "FINISHED" if vertex.finished else "RUNNING"
    counted = vertex.counted()
    return {
        "id": vertex.id,
        "slotSharingGroupId": "dd755686ae63f3c0999fb238168e287e",
        "name": vertex.name,
        "maxParallelism": vertex.max_parallelism,
        "parallelism": vertex.parallelism,
        "status": state,
        "start-time": vertex.started_at_ms,
        "end-time": -1,
        "duration": now_ms - vertex.started_at_ms,
        "tasks": _states(**{state: vertex.parallelism}),
        "metrics": {
            "read-bytes": 0,
            "read-bytes-complete": True,
            "write-bytes": 0,
            "write-bytes-complete": True,
            "read-records": 0 if vertex.is_source else round(counted.records_in),
            "read-records-complete": True,
            "write-records": round(counted.records_out),
            "write-records-complete": True,
            "accumulated-backpressured-time": round(counted.backpressured_ms),
            "accumulated-idle-time": round(counted.idle_ms),
            "accumulated-busy-time": round(counted.busy_ms, 1) if vertex.has_busy_time else "NaN",
        },
    }


def _node(vertex: FakeVertex) -> dict[str, Any]:
    node: dict[str, Any] = {
        "id": vertex.id,
        "operator": "",
        "parallelism": vertex.parallelism,
        "operator_strategy": "",
        "description": f"{vertex.name}<br/>",
        "optimizer_properties": {},
    }
    if vertex.inputs:
        node["inputs"] = [
            {"id": source, "num": number, "exchange": "pipelined_bounded", "ship_strategy": strategy}
            for number, (source, strategy) in enumerate(vertex.inputs.items())
        ]
    return node


def _states(**counts: int) -> dict[str, int]:
    return dict.fromkeys(_TASK_STATES, 0) | counts


def _aggregate(name: str, values: Sequence[float]) -> dict[str, Any]:
    total = sum(values)
    if total != total:  # noqa: PLR0124 -- NaN alone differs from itself
        return {"id": name, "min": "NaN", "max": "NaN", "avg": "NaN", "sum": "NaN"}
    return {"id": name, "min": min(values), "max": max(values), "avg": total / len(values), "sum": total}
