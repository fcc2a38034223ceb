"""Slots and quotas against the reference's cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from headgate.algorithm.capacity import Demand, needed_capacity, scale_factor
from headgate.algorithm.fleet import tuning
from headgate.algorithm.policies import scaled
from headgate.algorithm.resources import Rescale, quota_reached, slots_after_rescale
from headgate.algorithm.rules import rules_of
from headgate.model.identity import VertexId
from headgate.model.samples import EngineSettings
from headgate.model.topology import Topology, Vertex
from headgate.options.deviations import Deviation
from headgate.options.units import parse_duration
from headgate.testing.golden import Case


def test_slots_after_rescale(case: Case) -> None:
    """A job that shares its slots needs as many as its largest vertex has subtasks, another one their sum."""
    given = case.inputs

    found = slots_after_rescale(given["parallelisms"], given["new_parallelisms"], given["slots_used"])

    assert found == case.expected["slots"]


def _wanted(given: Mapping[str, Any], case: Case) -> int:
    tuned = tuning([(replace(case.options, restart_time=parse_duration(case.inputs["restart_time"])), 1)])
    target, catch_up, true_rate = (
        np.array([float(given[name])]) for name in ("target_data_rate", "catch_up_data_rate", "true_processing_rate")
    )
    factor = scale_factor(
        needed_capacity(Demand(target=target, catch_up=catch_up), tuned),
        true_rate,
        exact=tuned.rules[Deviation.EXACT_CAPACITY],
    )
    return scaled(given["current_parallelism"], float(factor[0]))


def test_resource_quota(case: Case) -> None:
    """A change that would exceed the quota is not made."""
    given = case.inputs
    groups = given["slot_sharing_groups"] or {}
    before = Topology(
        vertices=tuple(
            Vertex(
                id=VertexId(name),
                name=name,
                parallelism=vertex["current_parallelism"],
                max_parallelism=vertex["max_parallelism"],
                slot_sharing_group=groups.get(name),
            )
            for name, vertex in given["vertices"].items()
        )
    )
    wanted = {VertexId(name): _wanted(vertex, case) for name, vertex in given["vertices"].items()}
    settings = EngineSettings(
        slots_per_task_manager=given["task_slots_per_taskmanager"],
        task_manager_cpus=given["taskmanager_cpu"],
        task_manager_memory_bytes=given["taskmanager_memory_bytes"],
    )

    found = quota_reached(
        Rescale(before=before, after=before.with_parallelism(wanted)),
        settings,
        case.options,
        true_total=Deviation.TRUE_QUOTA in rules_of(case.options),
    )

    assert (found is not None) == case.expected["quota_reached"]
