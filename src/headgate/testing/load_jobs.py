"""Load jobs of which the right parallelism is known by arithmetic: each need lies well between two whole numbers."""

from __future__ import annotations

from datetime import UTC, datetime

from headgate.demo.loadjob import ConstantProfile, LoadJobSpec, Stage

RATE_PER_S = 200.0
"""Few, so that several jobs run beside each other on two cores; a stage sleeps, a record's way to it does not."""
UTILIZATION_TARGET = 0.7


def stage(name: str, need: float, rate_per_s: float, *inputs: str, selectivity: float = 1.0) -> Stage:
    """Make a stage that needs so many subtasks, not rounded, to be busy for the target share of its time."""
    cost_us = need * UTILIZATION_TARGET / rate_per_s * 1e6
    return Stage(name=name, cost_us=round(cost_us), selectivity=selectivity, keyed=name != "a", inputs=inputs)


def two_stages(name: str) -> LoadJobSpec:
    """Make a job whose second stage gets more records than its first: 1.4 and 2.4 subtasks are needed."""
    stages = (stage("a", 1.4, RATE_PER_S, selectivity=1.25), stage("b", 2.4, 1.25 * RATE_PER_S))
    return LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=RATE_PER_S), epoch=datetime.now(UTC), name=name)


def branches(name: str) -> LoadJobSpec:
    """Make a job whose source feeds two stages, which a third one joins: 1.4, 2.4 and 1.5 subtasks are needed."""
    stages = (
        stage("a", 1.4, RATE_PER_S, "source", selectivity=0.5),
        stage("b", 2.4, RATE_PER_S, "source"),
        stage("join", 1.5, 1.5 * RATE_PER_S, "a", "b"),
    )
    return LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=RATE_PER_S), epoch=datetime.now(UTC), name=name)
