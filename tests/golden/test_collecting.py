"""What the collector reads, chooses and asks for against the reference's cases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headgate.algorithm.observed import Observations, observed_rate, unblocked_rate
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.details import read_details
from headgate.engines.flink.gauges import (
    Aggregate,
    Gauges,
    lag_of,
    load_of,
    merge,
    observed_of,
    read_aggregate,
    read_aggregates,
    records_read,
)
from headgate.engines.flink.names import FlinkMetric, count_partitions, missing_metrics, select_names
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.overview import effective_status, read_values
from headgate.engines.flink.realizer import ResourceRequirementsRealizer, merge_overrides
from headgate.engines.flink.workers import (
    GC_PER_SECOND,
    HEAP_MAX,
    HEAP_USED,
    MANAGED_USED,
    METASPACE_USED,
    job_values,
    read_largest,
)
from headgate.errors import RefusedError, UnreachableError
from headgate.model.identity import JobKey, VertexId
from headgate.model.samples import JobSample
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext
from headgate.testing.builders import chain, sample
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, FakeVertex
from headgate.testing.golden import Case

WORKER_NAMES = {
    "HEAP_MEMORY_MAX": HEAP_MAX,
    "HEAP_MEMORY_USED": HEAP_USED,
    "MANAGED_MEMORY_USED": MANAGED_USED,
    "METASPACE_MEMORY_USED": METASPACE_USED,
    "TOTAL_GC_TIME_PER_SEC": GC_PER_SECOND,
}
SLOT_NAMES = {"NUM_TASK_SLOTS_TOTAL": "taskSlotsTotal", "NUM_TASK_SLOTS_AVAILABLE": "taskSlotsAvailable"}


def equal(expected: Any) -> Any:
    """Compare with a number as the cases write it."""
    return pytest.approx(float(expected), rel=1e-9, nan_ok=True)


def seconds(duration: timedelta) -> int:
    """Give the whole seconds of a duration."""
    return duration // timedelta(seconds=1)


def gauges_of(written: Mapping[str, Any]) -> Gauges:
    """Read a case's metrics."""
    return {FlinkMetric[name]: read_aggregate(entry) for name, entry in written.items()}


def known(values: Mapping[str, float]) -> dict[str, float]:
    """Leave out what nobody knows."""
    return {name: value for name, value in values.items() if not math.isnan(value)}


def test_required_metrics(case: Case) -> None:
    """Names are chosen by what they begin and end with; without a required one there is nothing to go by."""
    source = case.inputs["is_source"]

    found = select_names(case.inputs["available"], source=source)

    if not case.expected.get("selected"):
        assert missing_metrics(found, source=source)
        return
    assert not missing_metrics(found, source=source)
    assert {name: metric.name for name, metric in found.items()} == case.expected["selected"]


def test_partition_count(case: Case) -> None:
    """Partitions are told apart by cluster, topic and number."""
    assert (count_partitions(case.inputs["metric_names"]) or 0) == case.expected["num_partitions"]


def test_metric_merge(case: Case) -> None:
    """Several names of one metric are put together, others are left aside."""
    selected = {name: FlinkMetric[metric] for name, metric in case.inputs["selected"].items()}

    found = merge(read_aggregates(case.inputs["responses"]), selected)

    assert {metric.name for metric in found} == set(case.expected)
    for metric, expected in case.expected.items():
        aggregate = found[FlinkMetric[metric]]
        shown = {part: getattr(aggregate, part) for part in expected if part != "skew"}
        assert shown == {part: equal(value) for part, value in expected.items() if part != "skew"}


def test_effective_job_status(case: Case) -> None:
    """A job runs only when all its tasks do."""
    tasks = {state.lower(): count for state, count in case.inputs["tasks"].items()}

    assert effective_status(case.inputs["status"], tasks) is effective_status(case.expected["status"], {})


def test_topology(case: Case) -> None:
    """The graph comes from vertices and plan; a finished vertex has done nothing."""
    answer = completed(case.inputs["job_details"])
    if case.expected.get("not_ready"):
        with pytest.raises(UnreachableError):
            read_details(answer)
        return

    details = read_details(answer)

    assert details.running_since_ms == case.expected["job_running_at_ms"]
    topology = Topology(vertices=details.graph, edges=details.edges)
    counters = {vertex.id: vertex.counters for vertex in details.vertices}
    assert set(topology.by_id) == set(case.expected["vertices"])
    for name, expected in case.expected["vertices"].items():
        vertex, counted = topology.by_id[VertexId(name)], counters[VertexId(name)]
        assert counted is not None
        assert {
            "inputs": {edge.source: edge.ship_strategy.name for edge in topology.inputs[vertex.id]},
            "outputs": {edge.target: edge.ship_strategy.name for edge in topology.outputs[vertex.id]},
            "parallelism": vertex.parallelism,
            "max_parallelism": vertex.max_parallelism,
            "finished": vertex.finished,
            "records_in": counted.records_in,
            "records_out": counted.records_out,
            "accumulated_busy_time": counted.busy_ms,
        } == expected


def completed(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in what Flink always sends and no rule of the case reads."""
    vertices = [
        {"name": vertex["id"], "start-time": 0, "tasks": {vertex["status"]: vertex["parallelism"]}} | vertex
        for vertex in answer["vertices"]
    ]
    return {"jid": "j", "now": 0, **answer, "vertices": vertices}


def test_observed_tpr_backpressure(case: Case) -> None:
    """Without back-pressure a vertex would have done more."""
    found = unblocked_rate(case.inputs["records_per_sec"], case.inputs["backpressure_ms_per_sec"] / 1000)

    assert found == equal(case.expected["observed_tpr"])


def test_observed_tpr_sequence(case: Case) -> None:
    """What was observed while the source was behind is carried on."""
    options, before = case.options, Observations(running_since=instant(0))
    for step, expected in zip(case.inputs["steps"], case.expected["observed_tpr"], strict=True):
        found = observed_rate(
            case.inputs["records_in_per_sec"],
            step["lag"],
            step["backpressure_ms"] / 1000,
            seconds(options.observed_tpr_lag_threshold),
            before.mean(options.observed_tpr_min_observations),
        )
        before.add(
            instant(step["t_ms"]), found, stabilization=options.stabilization_interval, window=options.metrics_window
        )
        assert found == equal(expected)


def test_vertex_metric_collection(case: Case) -> None:
    """Gauges and counters become a sample; what nobody knows is absent."""
    collect = {"data_rate": data_rates, "load": loads, "lag": lags}[case.inputs["kind"]]

    found = collect(case.inputs, case.options)

    expected = known({name: float(value) for name, value in case.expected["metrics"].items()})
    assert known(found) == {name: equal(value) for name, value in expected.items()}
    if "vertex_excluded" in case.expected:
        assert math.isnan(found["LOAD"]) is case.expected["vertex_excluded"]


def data_rates(inputs: Mapping[str, Any], options: AutoscalerOptions) -> dict[str, float]:
    """Give what a vertex reads and writes, and what a source has shown it can do."""
    gauges, counted = gauges_of(inputs["flink_metrics"]), inputs["io"]
    if not inputs["is_source"]:
        per_second = gauges.get(FlinkMetric.NUM_RECORDS_IN_PER_SEC, Aggregate()).sum
        read = records_read(counted["records_in"], {})
        return {
            "NUM_RECORDS_IN": read,
            "NUM_RECORDS_OUT": counted["records_out"],
            "NUM_RECORDS_IN_PER_SECOND": per_second,
        }
    carried = inputs["previous_observed_tpr_average"]
    waiting = {FlinkMetric.PENDING_RECORDS: Aggregate(sum=float(inputs.get("lag") or 0))}
    observed = observed_of(
        {**waiting, **gauges},
        seconds(options.observed_tpr_lag_threshold),
        math.nan if carried is None else float(carried),
    )
    return {
        "NUM_RECORDS_IN": records_read(counted["records_in"], gauges),
        "NUM_RECORDS_OUT": counted["records_out"],
        "OBSERVED_TPR": observed,
    }


def loads(inputs: Mapping[str, Any], options: AutoscalerOptions) -> dict[str, float]:
    """Give the busy share and the busy time of a vertex."""
    return {
        "LOAD": load_of(gauges_of(inputs["flink_metrics"]), options.busy_time_aggregator),
        "ACCUMULATED_BUSY_TIME": float(inputs["io"]["accumulated_busy_time"]),
    }


def lags(inputs: Mapping[str, Any], _: AutoscalerOptions) -> dict[str, float]:
    """Give the lag, which only a source has."""
    return (
        {"LAG": math.nan} if not inputs.get("is_source", True) else {"LAG": lag_of(gauges_of(inputs["flink_metrics"]))}
    )


def test_global_metric_collection(case: Case) -> None:
    """The largest values of any TaskManager, and the slots in use."""
    answer = [{"id": WORKER_NAMES[name], **entry} for name, entry in case.inputs["taskmanagers"].items()]

    found = {measure.name: value for measure, value in job_values(read_largest(answer)).items()}

    used = with_slots(case.inputs["jobmanager"]).slots_used
    found |= {} if used is None else {"NUM_TASK_SLOTS_USED": float(used)}
    expected = known({name: float(value) for name, value in case.expected["metrics"].items()})
    assert found == {name: equal(value) for name, value in expected.items()}


def with_slots(jobmanager: Mapping[str, str]) -> JobSample:
    """Build a sample with the slots that the JobManager tells."""
    told = read_values([{"id": SLOT_NAMES[name], "value": value} for name, value in jobmanager.items()])
    slots = {name: int(value) for name, value in told.items() if value is not None}
    return replace(
        sample(chain({"v": 1})), slots_total=slots.get("taskSlotsTotal"), slots_free=slots.get("taskSlotsAvailable")
    )


def test_override_merge(case: Case) -> None:
    """The autoscaler's parallelism replaces the user's, but not that of an excluded vertex."""
    own, wanted = (numbers(case.inputs[name]) for name in ("user_overrides", "autoscaler_overrides"))

    found = merge_overrides(own, wanted, frozenset(case.inputs["excluded"]))

    assert (found or None) == (None if case.expected["realized"] is None else numbers(case.expected["realized"]))


def numbers(written: Mapping[str, str]) -> dict[VertexId, int]:
    """Read parallelisms, which Flink's configuration holds as texts."""
    return {VertexId(vertex): int(value) for vertex, value in written.items()}


async def test_rescale_request(case: Case) -> None:
    """All vertices are sent with their bounds, if one differs and the job can be asked at all."""
    job = job_of(case.inputs)
    async with FakeFlink([job]) as server, FlinkClient(ClusterOptions(name="c", url=server.url)) as client:
        sent = await realize(case, client, job)
        body = server.requests[-1].body if sent else None

    put = case.expected["put"]
    assert body == (None if put is None else {vertex: bounds_of(*bounds) for vertex, bounds in put.items()})


def job_of(inputs: Mapping[str, Any]) -> FakeJob:
    """Build the job of a case."""
    vertices = [
        FakeVertex(id=name, name=name, parallelism=upper, lower_bound=lower, upper_bound=upper)
        for name, (lower, upper) in inputs["current_requirements"].items()
    ]
    return FakeJob(job_id="j", name="j", vertices=vertices, scheduler=inputs["scheduler"].capitalize())


async def realize(case: Case, client: FlinkClient, job: FakeJob) -> bool:
    """Ask for the case's overrides; a refusal is no request."""
    context = JobContext(
        key=JobKey("c", job.name),
        job_id=job.job_id,
        status=effective_status(case.inputs["job_status"], {}),
        options=case.options,
    )
    realizer = ResourceRequirementsRealizer({"c": client})
    try:
        return await realizer.realize_parallelism_overrides(context, numbers(case.inputs["overrides"]))
    except RefusedError:
        return False


def bounds_of(lower: int, upper: int) -> dict[str, dict[str, int]]:
    """Write bounds as Flink does."""
    return {"parallelism": {"lowerBound": lower, "upperBound": upper}}
