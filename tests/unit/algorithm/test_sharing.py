"""Vertices on the same workers keep one parallelism, whatever the rules before would make of each."""

from __future__ import annotations

from dataclasses import replace

from headgate.algorithm.decide import decide
from headgate.algorithm.resources import Rescale, quota_reached
from headgate.algorithm.sharing import evened, shared
from headgate.model.decision import Outcome, Proposal
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import START, chain, evaluated, sample

OPTIONS = AutoscalerOptions(max_parallelism=16)


def application(cores: int = 4, *, each: int = 1, shares: bool = True) -> JobSample:
    """Observe two queries on so many cores, in executors of so many each."""
    settings = EngineSettings(shared_workers=shares, slots_per_task_manager=each)
    return sample(chain({"orders": cores, "clicks": cores}), settings=settings)


def proposals(seen: JobSample, orders: int, clicks: int) -> tuple[Proposal, ...]:
    """Propose so many cores for each query."""
    wanted = {"orders": orders, "clicks": clicks}
    return tuple(replace(each, wanted=wanted[each.name], outside=True) for each in seen.topology.unchanged)


def wanted(plan: tuple[Proposal, ...]) -> list[int]:
    """Give what is wanted for each vertex."""
    return [each.wanted for each in plan]


def test_the_largest_wish_is_everybodys() -> None:
    """And it says who set it."""
    seen = application()
    plan = shared(proposals(seen, 7, 3), seen, OPTIONS)
    assert wanted(plan) == [7, 7]
    moved = next(each for each in plan if each.name == "clicks")
    assert moved.steps[-1].reason is Reason.SHARED_EXECUTORS
    assert "orders" in moved.steps[-1].detail


def test_workers_of_ones_own_are_left_alone() -> None:
    """Flink's vertices have a parallelism each."""
    seen = application(shares=False)
    plan = proposals(seen, 7, 3)
    assert evened(shared(plan, seen, OPTIONS), seen) == plan


def test_executors_come_whole() -> None:
    """Five cores are three executors of two; where six are not allowed, two executors."""
    seen = application(each=2)
    assert wanted(shared(proposals(seen, 5, 4), seen, OPTIONS)) == [6, 6]
    assert wanted(shared(proposals(seen, 5, 4), seen, replace(OPTIONS, max_parallelism=5))) == [4, 4]
    assert wanted(shared(proposals(seen, 1, 1), seen, OPTIONS)) == [2, 2]


def test_an_excluded_query_holds_all() -> None:
    """Nothing on its workers can change without it."""
    seen = application()
    held = replace(OPTIONS, vertex_exclude_ids=("clicks",))
    assert wanted(shared(proposals(seen, 7, 4), seen, held)) == [4, 4]


def test_who_is_held_back_later_holds_all() -> None:
    """A bound or a gate on one of them: growth stops at the least, shrinking at the most."""
    seen = application(each=2)
    assert wanted(evened(proposals(seen, 8, 5), seen)) == [4, 4]
    assert wanted(evened(proposals(seen, 2, 3), seen)) == [4, 4]
    assert wanted(evened(proposals(seen, 8, 6), seen)) == [6, 6]


def test_a_query_within_its_band_goes_along_by_one() -> None:
    """Which it would not do for a vertex on workers of its own."""
    seen = application()
    answer = evaluated(seen.topology, {"orders": 1.25})
    decision = decide(seen, answer, OPTIONS, START)
    assert decision.outcome is Outcome.RESCALE
    assert wanted(decision.proposals) == [5, 5]


def test_a_quota_counts_the_shared_executors_once() -> None:
    """Two queries on eight cores take eight."""
    seen = application()
    grouped = replace(
        seen.topology,
        vertices=tuple(replace(vertex, slot_sharing_group="executors") for vertex in seen.topology.vertices),
    )
    settings = replace(seen.settings, task_manager_cpus=1.0)
    rescale = Rescale.of(grouped, proposals(seen, 8, 8))
    assert quota_reached(rescale, settings, replace(OPTIONS, quota_cpu=8.0), true_total=True) is None
    assert quota_reached(rescale, settings, replace(OPTIONS, quota_cpu=7.0), true_total=True) is not None
