"""Queries in micro-batches under control: the right number of cores, found once, and left alone."""

from __future__ import annotations

import pytest

from headgate.model.decision import Decision, Outcome
from headgate.model.reasons import Reason
from headgate.testing.micro_batch_loop import life, spark_options
from headgate.testing.micro_batching import SimulatedApplication, SimulatedQuery

OPTIONS = spark_options()


def steps(second: float) -> float:
    """Let 200 rows/s come in, 520 between 100 s and 300 s."""
    return 520.0 if 100 <= second < 300 else 200.0


def changes(decisions: list[Decision]) -> list[tuple[int, int]]:
    """Give the cores before and after each change."""
    rescales = [decision.proposals[0] for decision in decisions if decision.outcome is Outcome.RESCALE]
    return [(proposal.current, proposal.wanted) for proposal in rescales]


@pytest.mark.parametrize("interval_s", [2.0, None])
@pytest.mark.parametrize("seed", [1, 2])
def test_cores_follow_a_step_up_and_a_step_down(seed: int, interval_s: float | None) -> None:
    """What piled up until the executors came is worked off, and nobody pays for idle cores afterwards."""
    query = SimulatedQuery(load=steps, interval_s=interval_s, noise=0.1)
    application = SimulatedApplication(queries=[query], cores=2, seed=seed)
    before, high, low = (list(life(application, OPTIONS, until_s=until)) for until in (100, 300, 460))
    assert all(after <= 2 for _, after in changes(before))
    at_last = high[-1].proposals[0].current
    assert at_last == 4
    assert high[-1].evaluated is not None
    assert not high[-1].evaluated.backlog
    assert low[-1].proposals[0].current <= 2
    assert application.lag() < 3 * 200 * 2


@pytest.mark.parametrize(("load", "cores"), [(60, 1), (300, 2), (610, 4), (1240, 8)])
def test_nothing_changes_at_constant_load(load: float, cores: int) -> None:
    """Not at the very start either, when little is known of what batches cost."""
    query = SimulatedQuery(load=lambda _: load, noise=0.1)
    decisions = list(life(SimulatedApplication(queries=[query], cores=cores, seed=3), OPTIONS, until_s=300))
    assert changes(decisions) == []
    assert decisions[-1].reason is not Reason.COST_UNKNOWN


def test_queries_that_share_executors_get_one_number_together() -> None:
    """One of three grows: the application does, every vertex to the same number, and each says why."""
    queries = [
        SimulatedQuery(name="orders", load=steps),
        SimulatedQuery(name="clicks", load=lambda _: 50, tasks=(4,)),
        SimulatedQuery(name="users", load=lambda _: 20, tasks=(4, 6), interval_s=5.0),
    ]
    application = SimulatedApplication(queries=queries, cores=3)
    decisions = list(life(application, OPTIONS, until_s=200))
    rescales = [decision for decision in decisions if decision.outcome is Outcome.RESCALE]
    assert rescales
    assert application.cores >= 4
    assert all(
        len({proposal.wanted for proposal in decision.proposals}) == 1 for decision in decisions if decision.proposals
    )
    grown = next(each for each in rescales if each.proposals[0].wanted > each.proposals[0].current)
    assert grown.evaluated is not None
    assert all(metrics.basis for metrics in grown.evaluated.vertices.values())


def test_executors_of_two_cores_come_and_go_whole() -> None:
    """Five cores would do by waves, three executors hold six."""
    query = SimulatedQuery(load=steps, tasks=(10,))
    application = SimulatedApplication(queries=[query], cores=2, cores_each=2, seed=1)
    reached = [after for _, after in changes(list(life(application, OPTIONS, until_s=400)))]
    assert reached
    assert all(after % 2 == 0 for after in reached)
