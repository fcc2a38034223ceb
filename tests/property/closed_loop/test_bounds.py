"""Rule 1: never outside of min and max, never above max parallelism; sources never above their partitions."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given

from headgate.model.identity import VertexId
from headgate.simulate import Scenario, SimulatedVertex
from headgate.testing.simulated import FEW, scenarios
from headgate.testing.watched import Request, WatchedSimulation, watch


@FEW
@given(scenario=scenarios())
def test_nothing_outside_the_bounds_is_ever_asked_for(scenario: Scenario) -> None:
    """Never outside [min, max], never above max parallelism; sources never above their partitions."""
    assert list(trespasses(watch(scenario))) == []


def trespasses(simulation: WatchedSimulation) -> Iterator[str]:
    """Name every request that left the bounds; a vertex that was outside already may stay there, no further out."""
    specs = {vertex.name: vertex for vertex in simulation.scenario.jobs[0].vertices}
    for request in simulation.requests:
        for name, wanted in request.wanted.items():
            least, most = bounds(simulation.scenario, specs[name], request)
            if not least <= wanted <= most:
                yield f"{request.at}: {name} from {request.running[name]} to {wanted}, not {least} to {most}"


def bounds(scenario: Scenario, vertex: SimulatedVertex, request: Request) -> tuple[int, int]:
    """Give the least and the most that a vertex may be asked to run at: what the engine can wins."""
    options, decided_at = scenario.autoscaler, request.intent.before if request.intent else request.running
    running = decided_at[VertexId(vertex.name)]
    hard = min(vertex.max_parallelism, vertex.partitions or vertex.max_parallelism)
    return min(options.min_parallelism, running, hard), min(max(options.max_parallelism, running), hard)
