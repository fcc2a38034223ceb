"""
Drives Headgate's own functions in closed loop: numbers, `decide`, the intent, the job at its new parallelism, again.

What is left out is only what has no bearing here: a cluster, and the samples that the numbers are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import numpy as np

from benchmarks.ds2.service import Operator
from headgate.algorithm.capacity import Demand, band, needed_capacity, outside, scale_factor
from headgate.algorithm.decide import decide
from headgate.algorithm.fleet import tuning
from headgate.algorithm.rates import round3
from headgate.control.intents import accepted, open_intent, settle
from headgate.model.metrics import EvaluatedMetrics, ScalingMetric, VertexMetrics
from headgate.model.state import JobState
from headgate.model.topology import Topology
from headgate.options.autoscaler import AutoscalerOptions, ScalabilityModel
from headgate.options.deviations import Deviation
from headgate.testing.builders import START, chain, sample

Job = Mapping[str, Operator]
"""A chain of operators by name."""
Path = tuple[tuple[int, ...], ...]
"""The parallelisms of a job's operators, the initial ones first, one entry a rescale."""
Noise = Callable[[int], float]
"""By which factor the rates measured in a cycle are off."""

DS2 = AutoscalerOptions(
    alignment_mode="OFF",
    utilization_target=1.0,
    utilization_boundary=0.0,
    catch_up_duration=timedelta(),
    restart_time=timedelta(),
    scale_down_max_factor=1.0,
    scale_down_interval=timedelta(),
)
"""The linear rule by itself: no headroom, nothing to catch up, no limit on a step, no alignment."""

CYCLE = timedelta(minutes=10)
MAX_CYCLES = 60


def learning(options: AutoscalerOptions, prior: float | None = None) -> AutoscalerOptions:
    """Switch the learned curve on, with its default prior or another."""
    prior = options.observed_scalability_prior if prior is None else prior
    return replace(
        options,
        observed_scalability_enabled=True,
        observed_scalability_model=ScalabilityModel.CURVE,
        observed_scalability_prior=prior,
    )


def exact(_cycle: int) -> float:
    """Measure without noise."""
    return 1.0


def drive(
    job: Job, start: Mapping[str, int], options: AutoscalerOptions, *, noise: Noise = exact, cycles: int | None = None
) -> Path:
    """Let the job be rescaled until a cycle leaves it alone, or for so many cycles."""
    topology, state = chain(start, max_parallelism=10_000), JobState()
    path = [tuple(topology.parallelism.values())]
    for cycle in range(cycles or MAX_CYCLES):
        topology, state = _cycle(job, topology, state, options, (cycle, noise(cycle)))
        parallelism = tuple(topology.parallelism.values())
        if parallelism != path[-1]:
            path.append(parallelism)
        elif cycles is None:
            break
    return tuple(path)


def _cycle(
    job: Job, topology: Topology, state: JobState, options: AutoscalerOptions, at: tuple[int, float]
) -> tuple[Topology, JobState]:
    cycle, off = at
    now = START + cycle * CYCLE
    seen = sample(topology, tick=now)
    decision = decide(seen, measured(job, topology, options, off), options, now, state)
    if not decision.changes:
        return topology, state
    state = accepted(seen.job, open_intent(state, decision, seen, options, late=timedelta()), now, options)
    topology = topology.with_parallelism(decision.targets)
    later = now + CYCLE / 2
    running = sample(topology, tick=later, running_since=now + timedelta(seconds=30))
    return topology, settle(running, state, options, later, may_act=True).state


def measured(job: Job, topology: Topology, options: AutoscalerOptions, off: float = 1.0) -> EvaluatedMetrics:
    """Evaluate a job whose every target is known; its true rates are read with an error."""
    operators = [job[vertex.name] for vertex in topology.vertices]
    target = np.array([operator.target for operator in operators])
    parallelism = topology.parallelism.values()
    rates = [operator.true_rate(p) for operator, p in zip(operators, parallelism, strict=True)]
    true_rate = round3(off * np.array(rates))
    demand, tuned = Demand(target=target, catch_up=0 * target), tuning([(options, len(operators))])
    needed = needed_capacity(demand, tuned)
    columns = (
        true_rate,
        target,
        needed,
        scale_factor(needed, true_rate, exact=tuned.rules[Deviation.EXACT_CAPACITY]),
        outside(true_rate, band(demand, tuned, np.zeros(len(operators), dtype=np.bool_))),
    )
    rows = zip(topology.vertices, *(column.tolist() for column in columns), strict=True)
    vertices = {
        vertex.id: VertexMetrics(
            metrics={ScalingMetric.TRUE_PROCESSING_RATE: rate, ScalingMetric.TARGET_DATA_RATE: coming},
            needed_capacity=capacity,
            factor=factor,
            outside=is_outside,
        )
        for vertex, rate, coming, capacity, factor, is_outside in rows
    }
    return EvaluatedMetrics(vertices=vertices, backlog=False, coverage=1.0, samples=10)
