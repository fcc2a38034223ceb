"""Reads `/jobs/:id`: the graph as it runs, and what each vertex has counted so far. Flink 1.18 to 2.3."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.engines.flink.counters import Counters
from headgate.engines.flink.numbers import number
from headgate.errors import UnreachableError
from headgate.model.identity import VertexId
from headgate.model.topology import Edge, ShipStrategy, Vertex

_WRAPPED_PLAN = re.compile(r"RawJson\{json='(?P<json>.*)'\}", re.DOTALL)
_SMALLEST_KEY_GROUPS, _MOST_KEY_GROUPS = 128, 32_768
_FINISHED = "FINISHED"
_RESTED = Counters(records_in=0.0, records_out=0.0, busy_ms=0.0, idle_ms=0.0, backpressured_ms=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexDetails:
    """One vertex at one instant, by the JobManager's word."""

    id: VertexId
    started_at_ms: int
    """When its first task was deployed; -1 before that."""
    parallelism: int
    finished: bool
    all_running: bool
    """Whether every subtask runs; sums over fewer of them do not follow the clock."""
    counters: Counters | None
    """None when Flink says that some subtasks have not reported yet; all 0 for a finished vertex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDetails:
    """One job at one instant."""

    running_since_ms: int
    now_ms: int
    """The JobManager's clock at the answer."""
    vertices: tuple[VertexDetails, ...]
    graph: tuple[Vertex, ...]
    """The same vertices as parts of a topology, partitions not yet known."""
    edges: tuple[Edge, ...]
    sources: frozenset[VertexId]
    """Vertices without inputs."""
    adaptive: bool | None
    """Whether the job's scheduler can change parallelism in place; None when this Flink does not tell."""


def read_details(answer: Any) -> JobDetails:
    """
    Read `/jobs/:id`.

    Raises:
        UnreachableError: the job has no vertices yet, or no plan.
    """
    vertices = answer["vertices"]
    plan = read_plan(answer["plan"]) if vertices else {}
    if not plan.get("nodes"):
        message = f"job {answer['jid']} has no plan yet"
        raise UnreachableError(message)
    scheduler = answer.get("schedulerType")
    edges = _read_edges(plan)
    return JobDetails(
        running_since_ms=int(answer["timestamps"]["RUNNING"]),
        now_ms=int(answer["now"]),
        vertices=tuple(_read_vertex(vertex) for vertex in vertices),
        graph=tuple(_read_node(vertex) for vertex in vertices),
        edges=edges,
        sources=frozenset(vertex["id"] for vertex in vertices) - {edge.target for edge in edges},
        adaptive=None if scheduler is None else scheduler.lower() == "adaptive",
    )


def read_plan(plan: Any) -> Mapping[str, Any]:
    """Read a plan, which is an object, a text that holds one, or Flink 1.17's printed wrapper of such a text."""
    if isinstance(plan, str):
        wrapped = _WRAPPED_PLAN.fullmatch(plan.strip())
        plan = json.loads(wrapped["json"] if wrapped else plan)
    inner = plan.get("plan")
    return read_plan(inner) if inner is not None else plan


def default_max_parallelism(parallelism: int) -> int:
    """Give the key groups Flink takes when nobody set them: 3/2, up to a power of two (KeyGroupRangeAssignment)."""
    wanted = parallelism + parallelism // 2
    return min(max(1 << max(wanted - 1, 0).bit_length(), _SMALLEST_KEY_GROUPS), _MOST_KEY_GROUPS)


def _read_vertex(vertex: Mapping[str, Any]) -> VertexDetails:
    finished = vertex["status"] == _FINISHED
    return VertexDetails(
        id=VertexId(vertex["id"]),
        started_at_ms=int(vertex["start-time"]),
        parallelism=int(vertex["parallelism"]),
        finished=finished,
        all_running=vertex["tasks"].get("RUNNING", 0) == vertex["parallelism"],
        counters=_RESTED if finished else _read_counters(vertex["metrics"]),
    )


def _read_node(vertex: Mapping[str, Any]) -> Vertex:
    parallelism, bound = int(vertex["parallelism"]), int(vertex.get("maxParallelism", -1))
    return Vertex(
        id=VertexId(vertex["id"]),
        name=vertex["name"],
        parallelism=parallelism,
        max_parallelism=bound if bound > 0 else default_max_parallelism(parallelism),
        slot_sharing_group=vertex.get("slotSharingGroupId"),
        finished=vertex["status"] == _FINISHED,
    )


def _read_counters(metrics: Mapping[str, Any]) -> Counters | None:
    if not (metrics.get("read-records-complete", True) and metrics.get("write-records-complete", True)):
        return None
    return Counters(
        records_in=number(metrics.get("read-records")),
        records_out=number(metrics.get("write-records")),
        busy_ms=number(metrics.get("accumulated-busy-time")),
        idle_ms=number(metrics.get("accumulated-idle-time")),
        backpressured_ms=number(metrics.get("accumulated-backpressured-time")),
    )


def _read_edges(plan: Mapping[str, Any]) -> tuple[Edge, ...]:
    """Read the inputs of all nodes; of several between a pair of vertices the last one counts."""
    edges = {
        (source["id"], node["id"]): ShipStrategy.of(source.get("ship_strategy") or "")
        for node in plan["nodes"]
        for source in node.get("inputs", ())
    }
    return tuple(
        Edge(source=VertexId(source), target=VertexId(target), ship_strategy=strategy)
        for (source, target), strategy in edges.items()
    )
