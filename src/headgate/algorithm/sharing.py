"""Vertices that all run on the same workers, as the queries of a Spark application do: one parallelism for all."""

from __future__ import annotations

from headgate.algorithm.plan import Plan
from headgate.algorithm.policies import is_held
from headgate.model.decision import Proposal
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.autoscaler import AutoscalerOptions


def shared(plan: Plan, sample: JobSample, options: AutoscalerOptions) -> Plan:
    """
    Give vertices that share their workers the largest parallelism wanted among them, in whole workers.

    With an excluded vertex among them none is changed.
    """
    live = _live(plan, sample)
    if not live:
        return plan
    largest = max(live, key=lambda each: each.wanted)
    excluded = next((each for each in live if is_held(sample.topology.by_id[each.vertex], options)), None)
    if excluded:
        return _all_at(plan, live, largest.current, f"{excluded.name} is excluded, and runs on the same workers")
    wanted = _whole(largest, sample.settings, upwards=True)
    if wanted > max(largest.current, options.max_parallelism):
        wanted = max(largest.current, _whole(largest, sample.settings, upwards=False))
    return _all_at(plan, live, wanted, f"{largest.name} sets it for all that run on the same workers")


def evened(plan: Plan, sample: JobSample) -> Plan:
    """
    Move vertices that share their workers no further than the one of them that was held back most.

    What comes between `shared` and this only ever holds a change back.
    """
    live = _live(plan, sample)
    if not live:
        return plan
    nearest = min(live, key=lambda each: abs(each.wanted - each.current))
    wanted = _whole(nearest, sample.settings, upwards=nearest.wanted < nearest.current)
    return _all_at(plan, live, wanted, f"{nearest.name} goes no further, and runs on the same workers")


def _live(plan: Plan, sample: JobSample) -> Plan:
    """Give the proposals of the vertices that share their workers; none where nothing is shared."""
    if not sample.settings.shared_workers:
        return ()
    return tuple(each for each in plan if not sample.topology.by_id[each.vertex].finished)


def _whole(proposal: Proposal, settings: EngineSettings, *, upwards: bool) -> int:
    """Round what is wanted to whole workers; what does not move, or comes to less than one, need not be."""
    each = settings.slots_per_task_manager if settings.slots_per_task_manager_known else 1
    if not proposal.changes:
        return proposal.wanted
    if upwards:
        return max(1, -(-proposal.wanted // each)) * each
    return proposal.wanted // each * each or proposal.current


def _all_at(plan: Plan, live: Plan, wanted: int, detail: str) -> Plan:
    return tuple(each.limited_to(wanted, Reason.SHARED_EXECUTORS, detail) if each in live else each for each in plan)
