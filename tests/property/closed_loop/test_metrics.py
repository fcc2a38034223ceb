"""Rule 2: no decision on stale, missing or partial metrics; none within the stabilization interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import hypothesis.strategies as st
from hypothesis import given

from headgate.engines.simulated.cluster import START
from headgate.model.decision import Decision
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions, Reaction
from headgate.simulate import FailureKind, Scenario
from headgate.testing.simulated import COLLECT, FEW, failures, scenarios
from headgate.testing.watched import Killing, Moment, WatchedSimulation, watch

HIDING = [
    FailureKind.METRICS,
    FailureKind.METRICS,
    FailureKind.METRICS,
    FailureKind.VERTEX,
    FailureKind.CLUSTER,
    FailureKind.JOB,
]
WINDOW = timedelta(seconds=90)
STALE, LATE = 3 * COLLECT, 2 * COLLECT
"""Age from which the last sample is stale; how much later than the window the first one may begin."""
A_FEW = 3 * 2 * COLLECT
"""Three samples, of which each comes after a tick of the collector and one of the engine."""


@FEW
@given(
    scenario=scenarios(failures=failures(*HIDING, lasting=(20, 90), vertices=["v0", "v1"]) | failures(*HIDING)),
    kills=st.sets(st.tuples(st.just(Moment.OBSERVE), st.integers(1, 48)), max_size=1),
)
def test_nothing_is_decided_on_stale_missing_or_partial_metrics(
    scenario: Scenario, kills: set[tuple[Moment, int]]
) -> None:
    """No decision on stale, missing or partial metrics, whatever hides them; none within the stabilization interval."""
    scenario = replace(scenario, autoscaler=replace(scenario.autoscaler, metrics_window=WINDOW))
    simulation = watch(scenario, Killing(kills))
    assert [fault for decision in simulation.decisions for fault in faults(simulation, decision)] == []


def faults(simulation: WatchedSimulation, decision: Decision) -> Iterator[str]:
    """Say what was wrong with the metrics behind a decision; nothing where none was looked at."""
    if decision.evaluated is None:
        return
    options, at = simulation.scenario.autoscaler, decision.at
    stable = running_since(simulation, at) + options.stabilization_interval
    if at < stable:
        yield f"{at}: stabilizing until {stable}"
    samples = samples_since(simulation, max(at - options.metrics_window, stable), at)
    for vertex in simulation.scenario.jobs[0].topology.vertices:
        seen = [sample.at for sample in samples if vertex.id in sample.vertices]
        for fault in holes(seen, at, to_be_filled(options)):
            yield f"{at}: {vertex.id} {fault} ({', '.join(f'{at - each}' for each in seen)})"


def to_be_filled(options: AutoscalerOptions) -> timedelta:
    """Give how far back samples must reach: where the last change of the load counts, a few of them are enough."""
    return min(A_FEW, options.metrics_window) if options.reaction is Reaction.FAST else options.metrics_window


def holes(seen: Sequence[datetime], at: datetime, window: timedelta) -> Iterator[str]:
    """Say what a vertex's samples lack."""
    if not seen:
        yield "was not measured"
    elif at - seen[-1] > STALE:
        yield "is stale"
    elif seen[0] > at - window + LATE:
        yield "does not fill the window"
    # Two cadences, the engine's and the collector's: samples may lie both apart without anything missing.
    elif 2 * COLLECT * (len(seen) - 1) < (seen[-1] - seen[0]) - max(STALE, (seen[-1] - seen[0]) / 4):
        yield "has a hole"


def samples_since(simulation: WatchedSimulation, begin: datetime, at: datetime) -> Sequence[JobSample]:
    """Give the samples that this process has taken since then; what a killed one had seen is gone."""
    reborn = max((killed for killed in simulation.killed if killed <= at), default=START)
    return [sample for sample in simulation.samples if max(begin, reborn) <= sample.at <= at]


def running_since(simulation: WatchedSimulation, at: datetime) -> datetime:
    """Tell since when the job ran at an instant; in the future, if it did not."""
    elapsed = (at - START).total_seconds()
    (job,) = {**simulation.cluster.jobs, **simulation.cluster.gone}.values()
    ends = [restart.ended_s for restart in job.restarts if restart.began_s < elapsed]
    return START + timedelta(seconds=max(ends, default=0.0))
