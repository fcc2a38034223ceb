"""Rule 3: at most one rescale in flight per job; a decision is re-validated before acting."""

from __future__ import annotations

import itertools
from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given

from headgate.engines.simulated.restart import Cause
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.topology import Topology, Vertex
from headgate.simulate import Scenario
from headgate.testing.simulated import FEW, Steady, scenarios, starting_at, steadily, steady_jobs
from headgate.testing.watched import Disturbance, Moment, WatchedSimulation, watch


class ByHand(Disturbance):
    """Somebody rescales the job while Headgate decides: every time, and to something else."""

    def at(self, moment: Moment, job: str, simulation: WatchedSimulation) -> None:
        """Add a subtask to each vertex, at once."""
        if moment is Moment.VALIDATE:
            running, cluster = simulation.cluster.jobs[job], simulation.cluster
            more = {name: parallelism + 1 for name, parallelism in running.parallelism.items()}
            running.require(more, cluster.now_s)
            running.restart(cluster.now_s, Cause.RESCALE, slots=cluster.slots_total)


class AnotherGraph(Disturbance):
    """Somebody submits a changed job while Headgate decides."""

    def validated(self, topology: Topology) -> Topology:
        """Add a vertex."""
        added = Vertex(id=VertexId("added"), name="added", parallelism=1, max_parallelism=128)
        return replace(topology, vertices=(*topology.vertices, added))


@FEW
@given(scenario=scenarios())
def test_a_job_has_one_rescale_in_flight_at_most(scenario: Scenario) -> None:
    """Whatever is asked of the engine is the one open intent; another one begins only after that was closed."""
    simulation = watch(scenario)
    for request in simulation.requests:
        assert request.intent is not None
        assert request.wanted == request.intent.after
    for before, after in itertools.pairwise(state.intent for state in simulation.states_of("job")):
        assert before is None or after is None or before.decision_id == after.decision_id


@FEW
@given(steady=steady_jobs(least=4), disturbance=st.sampled_from([ByHand, AnotherGraph]))
def test_what_changed_since_it_was_decided_is_left_alone(steady: Steady, disturbance: type[Disturbance]) -> None:
    """A decision is re-validated against the fresh topology before acting: another graph or parallelism stops it."""
    job, needs = steady
    simulation = watch(steadily(starting_at(job, dict.fromkeys(needs, 1))), disturbance())
    assert simulation.requests == []
    assert Reason.TOPOLOGY_CHANGED in {decision.reason for decision in simulation.decisions}
    assert not any(decision.acts for decision in simulation.decisions)
