"""Rule 6: the same input gives the same decision, byte for byte."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given

from headgate.simulate import FailureKind, Scenario
from headgate.testing.simulated import FEW, clusters, failures, scenarios, simulated_jobs
from headgate.testing.watched import Apart, WatchedSimulation, watch

FLEET = st.tuples(simulated_jobs("a"), simulated_jobs("b"), simulated_jobs("c"))
OWN = [kind for kind in FailureKind if kind not in {FailureKind.TASK_MANAGER, FailureKind.CLUSTER}]
"""What goes wrong with one job, and nothing that the jobs share."""


@FEW
@given(scenario=scenarios())
def test_the_same_input_gives_the_same_decisions(scenario: Scenario) -> None:
    """Whole runs, byte for byte: decisions with all their numbers, events, and every state."""
    first, second = watch(scenario), watch(scenario)
    assert first.written("job") == second.written("job")
    assert effects(first) == effects(second)


@FEW
@given(
    scenario=scenarios(jobs=FLEET, clusters=clusters(st.just(10_000)), failures=failures(*OWN, job="a")),
    order=st.permutations(range(3)),
)
def test_a_job_is_decided_on_alike_alone_and_in_a_fleet(scenario: Scenario, order: list[int]) -> None:
    """In a batch of one or of many, in any order: not a byte of a job's decisions depends on the others."""
    fleet = watch(replace(scenario, jobs=tuple(scenario.jobs[number] for number in order)), Apart())
    alone = watch(replace(scenario, jobs=scenario.jobs[:1]), Apart())
    assert alone.written("a") == fleet.written("a")


def effects(simulation: WatchedSimulation) -> str:
    """Give all that was said, asked for and saved, as text."""
    return repr((simulation.events, simulation.requests, simulation.saves))
