"""Network buffers, compensation and memory tuning against the reference's cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headgate.algorithm.memory.budget import Budget
from headgate.algorithm.memory.compensation import compensated, heap_factor
from headgate.algorithm.memory.config import Key, MemoryConfig
from headgate.algorithm.memory.network import segments
from headgate.algorithm.permission import permitted
from headgate.algorithm.resources import Rescale
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings
from headgate.model.topology import Edge, ShipStrategy, Topology
from headgate.options.units import parse_memory_size
from headgate.testing.builders import ORDERS, START, chain, sample
from headgate.testing.golden import Case


def _rescale(before: Mapping[str, int], after: Mapping[str, int], inputs: Mapping[str, Any]) -> Rescale:
    edges = tuple(
        Edge(source=VertexId(source), target=VertexId(target), ship_strategy=ShipStrategy.of(strategy))
        for target, sources in inputs.items()
        for source, strategy in sources.items()
    )
    graph = Topology(vertices=chain(before).vertices, edges=edges)
    return Rescale(before=graph, after=graph.with_parallelism({VertexId(name): n for name, n in after.items()}))


def _evaluated(slots_used: int, **averages: float) -> EvaluatedMetrics:
    job = {JobMetric[name]: JobValue(average=average) for name, average in averages.items()}
    job[JobMetric.NUM_TASK_SLOTS_USED] = JobValue(current=slots_used)
    return EvaluatedMetrics(vertices={}, backlog=False, coverage=1.0, samples=2, job=job)


def _wanted(rescale: Rescale) -> Decision:
    """Decide for the change, whatever it costs."""
    after = rescale.after.by_id
    proposals = [replace(p, wanted=after[p.vertex].parallelism, outside=True) for p in rescale.before.unchanged]
    reason = Reason.UTILIZATION_TARGET
    return Decision(
        id="d", job=ORDERS, at=START, outcome=Outcome.RESCALE, reason=reason, message="", proposals=(*proposals,)
    )


def _number(key: str, text: str) -> float:
    return float(text) if key.endswith("fraction") else float(parse_memory_size(text))


def test_network_buffers(case: Case) -> None:
    """A subtask's end of an edge needs buffers for its gate and for each channel."""
    given = case.inputs
    config = MemoryConfig(
        {
            Key.BUFFERS_PER_CHANNEL: str(given["buffers_per_channel"]),
            Key.FLOATING_BUFFERS: str(given["floating_buffers"]),
        }
    )
    strategy = ShipStrategy.of(given["ship_strategy"])

    found = segments(given["vertex_parallelism"], given["connected_parallelism"], strategy, config)

    assert found == case.expected["buffers"]


def test_memory_scaling(case: Case) -> None:
    """Fewer TaskManagers get more heap each, as far as the budget goes."""
    given = case.inputs
    before, after = ({name: pair[side] for name, pair in given["parallelisms"].items()} for side in (0, 1))
    settings = EngineSettings(slots_per_task_manager=given["task_slots_per_taskmanager"])

    factor = heap_factor(_rescale(before, after, {}), _evaluated(given["slots_used"]), settings, case.options)

    assert compensated(given["memory_bytes"], factor, Budget(given["budget_bytes"])) == case.expected["memory_bytes"]


def test_memory_tuning(case: Case) -> None:
    """What was measured becomes the memory settings that go with a change; where tuning is off none do."""
    given = case.inputs
    vertices, process = given["vertices"], given["process_memory_bytes"]
    rescale = _rescale(
        {name: vertex["current_parallelism"] for name, vertex in vertices.items()},
        {name: vertex["new_parallelism"] for name, vertex in vertices.items()},
        {name: vertex["inputs"] for name, vertex in vertices.items()},
    )
    evaluated = _evaluated(
        given["slots_used"],
        HEAP_MEMORY_USED=given["heap_used_avg"],
        MANAGED_MEMORY_USED=given["managed_used_avg"],
        METASPACE_MEMORY_USED=given["metaspace_used_avg"],
    )
    settings = EngineSettings(
        slots_per_task_manager=given["task_slots_per_taskmanager"],
        task_manager_memory_bytes=process,
        memory={Key.PROCESS_SIZE: str(process)},
    )
    running = replace(sample(rescale.before), settings=settings)

    found = permitted(_wanted(rescale), running, evaluated, case.options, ())

    assert found.outcome is Outcome.RESCALE
    assert {k: _number(k, text) for k, text in found.config.overrides.items()} == case.expected["overrides"]
    assert found.config.removals == set(case.expected["removals"])
