"""The pages of the Prometheus reporters of a fake Flink's processes, with the names and labels of Flink 2.3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, FakeVertex
from headgate.testing.fake_prometheus import Scraped

_TASK = "flink_taskmanager_job_task_"
_HOST = {"host": "127_0_0_1"}


def pages(flink: FakeFlink) -> Iterator[Scraped]:
    """Give every line of all pages at this instant."""
    yield _line("flink_jobmanager_taskSlotsTotal", _HOST, flink.slots)
    yield _line("flink_jobmanager_taskSlotsAvailable", _HOST, flink.slots - 1)
    for number, metrics in enumerate(flink.workers):
        of_worker = {**_HOST, "tm_id": f"taskmanager_{number}"}
        for name, value in metrics.items():
            yield _line("flink_taskmanager_" + name.replace(".", "_"), of_worker, value)
    for job in flink.jobs.values():
        job.advance_to(flink.now_ms)
        for vertex in job.vertices:
            for index in range(vertex.parallelism):
                yield from _task(job, vertex, index)


def _task(job: FakeJob, vertex: FakeVertex, index: int) -> Iterator[Scraped]:
    counted = vertex.subtask(index)
    labels = {
        **_HOST,
        "tm_id": "taskmanager_0",
        "job_id": job.job_id,
        "job_name": job.name,
        "task_id": vertex.id,
        "task_name": vertex.name.replace(" ", "_"),
        "subtask_index": str(index),
        "task_attempt_num": str(job.restarts),
        "task_attempt_id": f"{vertex.started_at_ms:032x}_{vertex.id}_{index}_{job.restarts}_{len(vertex.lost)}",
    }
    yield _line(_TASK + "numRecordsIn", labels, 0 if vertex.is_source else counted.records_in)
    yield _line(_TASK + "numRecordsOut", labels, counted.records_out)
    if vertex.has_busy_time:
        yield _line(_TASK + "accumulateBusyTimeMs", labels, counted.busy_ms)
        yield _line(_TASK + "accumulateIdleTimeMs", labels, counted.idle_ms)
        yield _line(_TASK + "accumulateBackPressuredTimeMs", labels, counted.backpressured_ms)
    if vertex.is_source:
        yield from _source(job, vertex, index, labels)


def _source(job: FakeJob, vertex: FakeVertex, index: int, labels: Mapping[str, str]) -> Iterator[Scraped]:
    counted, operator = (
        vertex.subtask(index),
        {**labels, "operator_id": vertex.id, "operator_name": labels["task_name"]},
    )
    yield _line(_TASK + "operator_numRecordsIn", operator, counted.records_in)
    yield _line(_TASK + "operator_numRecordsOut", operator, counted.records_out)
    if vertex.has_lag:
        yield _line(_TASK + "operator_pendingRecords", operator, job.pending / vertex.parallelism)
    for partition in range(index, vertex.partitions or 0, vertex.parallelism):
        of_partition = {**operator, "topic": "orders", "partition": str(partition)}
        yield _line(_TASK + "operator_KafkaSourceReader_topic_partition_currentOffset", of_partition, 1)


def _line(name: str, labels: Mapping[str, str], value: float) -> Scraped:
    return Scraped({"__name__": name, **labels}, float(value))
