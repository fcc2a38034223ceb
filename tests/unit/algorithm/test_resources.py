"""Slots, TaskManagers and quotas: what a change costs, and whether it may be made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from headgate.algorithm.resources import (
    Rescale,
    RoomQuestion,
    quota_reached,
    room_question,
    slots_after_rescale,
    task_managers,
)
from headgate.model.decision import Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.identity import VertexId
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.model.samples import EngineSettings
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.units import MemorySize
from headgate.testing.builders import chain, evaluated

SOURCE, SINK = VertexId("source"), VertexId("sink")
SETTINGS = EngineSettings(slots_per_task_manager=2, task_manager_cpus=1.0, task_manager_memory_bytes=1000)


def _graph(parallelism: Mapping[str, int], groups: Mapping[str, str] | None = None) -> Topology:
    graph = chain(parallelism)
    if groups is None:
        groups = dict.fromkeys(parallelism, "default")
    vertices = tuple(replace(vertex, slot_sharing_group=groups.get(vertex.name)) for vertex in graph.vertices)
    return replace(graph, vertices=vertices)


def _rescale(before: Mapping[str, int], after: Mapping[str, int], groups: Mapping[str, str] | None = None) -> Rescale:
    return Rescale(before=_graph(before, groups), after=_graph(after, groups))


def _using(slots: float | None) -> EvaluatedMetrics:
    job = {JobMetric.NUM_TASK_SLOTS_USED: JobValue(current=slots)}
    return replace(evaluated(chain({"v": 1}), {}), job=job)


def _refused(
    rescale: Rescale, *, cpus: float = 100, settings: EngineSettings = SETTINGS, true_total: bool = True
) -> bool:
    options = AutoscalerOptions(quota_cpu=cpus)
    return quota_reached(rescale, settings, options, true_total=true_total) is not None


def test_a_rescale_is_the_graph_with_the_wanted_parallelism() -> None:
    """Proposals name every vertex; those that keep their parallelism do not change."""
    proposals = [
        Proposal(vertex=SOURCE, name="source", current=2, wanted=7),
        Proposal(vertex=SINK, name="sink", current=3, wanted=3),
    ]

    rescale = Rescale.of(_graph({"source": 2, "sink": 3}), proposals)

    assert rescale.after.parallelism == {SOURCE: 7, SINK: 3}
    assert rescale.changing.before.parallelism == {SOURCE: 2}
    assert rescale.changing.after.parallelism == {SOURCE: 7}


@pytest.mark.parametrize(("slots_used", "expected"), [(3, 7), (5, 10), (0, 10)])
def test_slots_are_shared_as_they_are_now(slots_used: int, expected: int) -> None:
    """As many slots as the largest vertex: shared. More, or unknown: none is."""
    assert slots_after_rescale({SOURCE: 2, SINK: 3}, {SOURCE: 7}, slots_used) == expected


@pytest.mark.parametrize(("slots", "expected"), [(0, 0), (1, 1), (4, 1), (5, 2)])
def test_a_task_manager_counts_once_it_is_begun(slots: int, expected: int) -> None:
    """Five slots of four each take two TaskManagers."""
    assert task_managers(slots, 4) == expected


def test_the_cluster_is_asked_for_what_the_change_needs() -> None:
    """Three shared slots become seven, of two each: two TaskManagers become four."""
    rescale = _rescale({"source": 2, "sink": 3}, {"source": 7, "sink": 3})

    question = room_question(rescale, _using(3), SETTINGS)

    assert question == RoomQuestion(task_managers_now=2, task_managers_after=4, cpus_each=1.0, memory_bytes_each=1000)


@pytest.mark.parametrize(
    ("slots", "settings"),
    [
        (None, SETTINGS),
        (float("nan"), SETTINGS),
        (3, replace(SETTINGS, task_manager_cpus=None)),
        (3, replace(SETTINGS, task_manager_memory_bytes=None)),
    ],
)
def test_the_cluster_is_not_asked_about_the_unknown(slots: float | None, settings: EngineSettings) -> None:
    """Without slots in use, CPUs or memory there is no question to ask."""
    assert room_question(_rescale({"v": 1}, {"v": 9}), _using(slots), settings) is None


def test_growth_beyond_the_quota_is_refused() -> None:
    """Eight shared slots, two each, are four TaskManagers and so four CPUs."""
    rescale = _rescale({"source": 2, "sink": 2}, {"source": 8, "sink": 4})

    notice = quota_reached(rescale, SETTINGS, AutoscalerOptions(quota_cpu=3), true_total=True)

    assert notice is not None
    assert (notice.reason, notice.type) == (EventReason.RESOURCE_QUOTA_REACHED, EventType.WARNING)
    assert "4 TaskManagers would take 4 CPUs" in notice.message
    assert not _refused(rescale, cpus=4)


def test_the_quota_of_memory_counts_as_well() -> None:
    """A quota is reached by whichever of the two is reached first."""
    rescale = _rescale({"v": 2}, {"v": 8})

    def refused(quota: int) -> bool:
        options = AutoscalerOptions(quota_cpu=100, quota_memory=MemorySize(quota))
        return quota_reached(rescale, SETTINGS, options, true_total=True) is not None

    assert refused(3999)
    assert not refused(4000)


def test_groups_do_not_share_slots() -> None:
    """Two groups need the sum of their largest vertices."""
    alone = {"source": "g1", "sink": "g2"}
    before, after = {"source": 2, "sink": 2}, {"source": 4, "sink": 4}

    assert _refused(_rescale(before, after, alone), cpus=3)
    assert not _refused(_rescale(before, after), cpus=3)


def test_shrinking_is_always_allowed() -> None:
    """A job above its quota may come closer to it, and may stay as large while it changes."""
    assert not _refused(_rescale({"v": 20}, {"v": 18}), cpus=1)
    assert not _refused(_rescale({"source": 20, "sink": 1}, {"source": 20, "sink": 2}), cpus=1)


def test_what_does_not_change_counts_too() -> None:
    """
    The reference lets the real total exceed the quota, Headgate does not.

    Beside a source of 10 a sink in its own group grows from 2 to 4. With two slots each that is seven TaskManagers,
    but the reference sees only the two of the sink.
    """
    groups = {"source": "g1", "sink": "g2"}
    rescale = _rescale({"source": 10, "sink": 2}, {"source": 10, "sink": 4}, groups)

    assert _refused(rescale, cpus=6)
    assert not _refused(rescale, cpus=6, true_total=False)


def test_a_task_manager_in_part_counts_too() -> None:
    """Five slots of two each need three TaskManagers; the reference counts the two that are full."""
    rescale = _rescale({"v": 2}, {"v": 5})

    assert _refused(rescale, cpus=2)
    assert not _refused(rescale, cpus=2, true_total=False)


def test_the_reference_asks_only_when_full_task_managers_grow() -> None:
    """From two slots to three there is a second TaskManager, which the reference never examines."""
    rescale = _rescale({"v": 2}, {"v": 3})

    assert _refused(rescale, cpus=1)
    assert not _refused(rescale, cpus=1, true_total=False)


@pytest.mark.parametrize("true_total", [True, False])
def test_nothing_is_refused_for_what_is_unknown(*, true_total: bool) -> None:
    """Without groups, CPUs or memory a quota cannot be judged."""
    before, after = {"v": 2}, {"v": 100}
    options = AutoscalerOptions(quota_cpu=1, quota_memory=MemorySize(1))
    unknown = replace(SETTINGS, task_manager_cpus=None, task_manager_memory_bytes=None)

    assert quota_reached(_rescale(before, after, {}), SETTINGS, options, true_total=true_total) is None
    assert quota_reached(_rescale(before, after), unknown, options, true_total=true_total) is None


def test_without_a_quota_nothing_is_refused() -> None:
    """Both quotas are unset by default."""
    assert quota_reached(_rescale({"v": 1}, {"v": 100}), SETTINGS, AutoscalerOptions(), true_total=True) is None
