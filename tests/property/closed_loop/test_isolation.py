"""Rule 9: one job's failure is that job's event."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import hypothesis.strategies as st
from hypothesis import given

from headgate.model.events import Event, EventReason
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.samples import JobSample, VertexSample
from headgate.simulate import FailureKind, Scenario, constant, job, vertex
from headgate.testing.simulated import FEW, STEADY, clusters, failures, scenarios, simulated_jobs
from headgate.testing.watched import Apart, Moment, WatchedSimulation, watch

VICTIM = "victim"
HUNGRY = job(VICTIM, vertex("v0", 100, load=constant(3000)), vertex("v1", 100))
OWN = [kind for kind in FailureKind if kind not in {FailureKind.TASK_MANAGER, FailureKind.CLUSTER}]
FLEETS = scenarios(
    jobs=st.tuples(simulated_jobs("a"), simulated_jobs(VICTIM), simulated_jobs("z")),
    clusters=clusters(st.just(10_000)),
    failures=failures(*OWN, job=VICTIM),
)
NONSENSE = st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -5.0, 0.0])


@dataclass(frozen=True)
class Breaking(Apart):
    """One job's ports fail with whatever they please, and what is measured of it makes no sense."""

    moments: frozenset[Moment]
    values: Mapping[Measure, float]
    missing: frozenset[VertexId]

    def at(self, moment: Moment, job: str, simulation: WatchedSimulation) -> None:  # noqa: ARG002 - the hook's shape
        """Fail."""
        if job == VICTIM and moment in self.moments:
            message = f"broken at {moment}"
            raise ZeroDivisionError(message)

    def sampled(self, sample: JobSample) -> JobSample:
        """Spoil what was measured."""
        sample = super().sampled(sample)
        if sample.job.name != VICTIM:
            return sample
        kept = {vertex: self._spoiled(each) for vertex, each in sample.vertices.items() if vertex not in self.missing}
        return replace(sample, vertices=kept)

    def _spoiled(self, sample: VertexSample) -> VertexSample:
        return replace(sample, values={**sample.values, **self.values})


BREAKING = st.builds(
    Breaking,
    st.frozensets(st.sampled_from(Moment), max_size=2),
    st.dictionaries(st.sampled_from(Measure), NONSENSE, max_size=4),
    st.frozensets(st.sampled_from([VertexId("v0"), VertexId("v1")]), max_size=1),
)


@FEW
@given(scenario=FLEETS, breaking=BREAKING)
def test_the_other_jobs_are_decided_on_as_if_it_were_not_there(scenario: Scenario, breaking: Breaking) -> None:
    """One job's failure is that job's event: the other jobs' decisions are the same as without it."""
    spared = replace(scenario, jobs=tuple(job for job in scenario.jobs if job.name != VICTIM), failures=())
    together, without = watch(scenario, breaking), watch(spared, Apart())
    for name in ("a", "z"):
        assert together.written(name) == without.written(name)
    assert {event.subject for event in errors(together)} <= {event.subject for event in errors(without)} | {
        together.decisions_of(VICTIM)[0].job
    }


@FEW
@given(scenario=FLEETS, moment=st.sampled_from([Moment.OBSERVE, Moment.VALIDATE, Moment.SAVE, Moment.ASK]))
def test_a_failure_is_said_once_and_of_whom(scenario: Scenario, moment: Moment) -> None:
    """One job's failure is that job's event, and nobody else's; the job itself has an outcome in every cycle."""
    jobs = (scenario.jobs[0], HUNGRY, scenario.jobs[2])
    scenario = replace(scenario, jobs=jobs, failures=(), autoscaler=STEADY)
    simulation = watch(scenario, Breaking(frozenset({moment}), {}, frozenset()))
    (victim,) = {decision.job for decision in simulation.decisions_of(VICTIM)}
    assert [event.subject for event in errors(simulation) if "broken at" in event.message] == [victim]
    assert len(simulation.decisions_of(VICTIM)) == scenario.duration // scenario.decide_interval


def errors(simulation: WatchedSimulation) -> list[Event]:
    """Give the events of failed cycles."""
    return [event for event in simulation.events if event.reason is EventReason.AUTOSCALER_ERROR]
