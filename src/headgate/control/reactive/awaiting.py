"""
A growth waits for the workers that it needs, where Headgate may ask for some.

In place, a job that has grown too far runs on what there is. A job that is replaced would not run at all: it is not
stopped before its slots are there, nor for a parallelism that its cluster can never have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headgate.algorithm.reactive.decide import needed_slots
from headgate.algorithm.reactive.slots import slots_of, within_slots
from headgate.control.outcomes import without_change
from headgate.control.reactive.ledger import Ledger
from headgate.model.decision import Decision, Outcome
from headgate.model.identity import JobKey
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample


def await_workers(ledger: Ledger, sample: JobSample, decision: Decision, *, replaces: bool) -> Decision:
    """
    Hold a growth back for which there are no slots yet; what the job needs is noted for who steers the workers.

    Args:
        ledger: of the cycle.
        sample: of the job, with the slots of its cluster.
        decision: as it would be made.
        replaces: whether it is made by a redeploy.
    """
    ledger.release(sample.job)
    if replaces and sample.job in ledger.needs:
        ledger.needs[sample.job] = needed_slots(decision, sample)  # of the whole job, not of each vertex by itself
    if decision.outcome is not Outcome.RESCALE:
        return decision
    if replaces and sample.job.cluster in ledger.steered:
        decision = _with_slots(ledger, sample, decision)
    elif not replaces:
        decision = _in_place(ledger, sample, decision)
    ledger.promised[sample.job] = max(0, _more(sample, decision))
    if replaces and (decision.outcome is Outcome.RESCALE or decision.reason is Reason.WORKERS_AWAITED):
        wanted = {each.vertex: each.wanted for each in decision.proposals}
        ledger.reserved[sample.job] = slots_of(sample.topology, wanted)
    return decision


def _in_place(ledger: Ledger, sample: JobSample, decision: Decision) -> Decision:
    """Let a growth wait only for workers that can come: without them the engine makes of it what it can."""
    room, free, total = ledger.rooms.get(sample.job.cluster), sample.slots_free, sample.slots_total
    if room is None or free is None or total is None:
        return decision
    more = _more(sample, decision)
    return _awaiting(decision, more, free) if free < more <= free + room - total else decision


def _with_slots(ledger: Ledger, sample: JobSample, decision: Decision) -> Decision:
    """Give the growth that there are slots for now; the others wait for theirs, or are cut to what can be had."""
    more = _more(sample, decision)
    if more <= 0:
        return decision
    free, total, room = _free(ledger, sample), sample.slots_total, ledger.rooms.get(sample.job.cluster)
    if free is None or total is None:
        message = f"{more} slots more are needed, and how many are free is not known: {decision.message}"
        return without_change(decision, Reason.WORKERS_AWAITED, message)
    if room is None and more > free:
        return _awaiting(decision, more, free)
    fitting = _cut(decision, sample, free + max(0, (room or 0) - total))
    more = _more(sample, fitting)
    if not fitting.changes or not _is_one(sample, fitting):
        message = f"no further slots can be had than the {free} that are free: {decision.message}"
        return without_change(fitting, Reason.NO_ROOM, message)
    return _awaiting(fitting, more, free) if more > free else fitting


def _free(ledger: Ledger, sample: JobSample) -> int | None:
    """Give the free slots without those that are promised to others, or whose workers are about to go."""
    free, total = sample.slots_free, sample.slots_total
    if free is None or total is None:
        return None
    going = max(0, total - ledger.caps.get(sample.job.cluster, total))
    return max(0, free - going - sum(_kept_for(other, ledger) for other in _others(ledger, sample.job)))


def _others(ledger: Ledger, job: JobKey) -> Iterator[JobKey]:
    known = ledger.promised.keys() | ledger.reserved.keys()
    return (other for other in known if other != job and other.cluster == job.cluster)


def _kept_for(job: JobKey, ledger: Ledger) -> int:
    """Give the free slots that are another job's: those more, or all of them while it is between stop and start."""
    missing = ledger.reserved.get(job, 0) - ledger.used.get(job, 0)
    return max(ledger.promised.get(job, 0), missing)


def _more(sample: JobSample, decision: Decision) -> int:
    return needed_slots(decision, sample) - slots_of(sample.topology)


def _cut(decision: Decision, sample: JobSample, more: int) -> Decision:
    """Cut a growth to so many slots more; nothing shrinks by it."""
    slots = slots_of(sample.topology) + more
    fitting, detail = within_slots(sample.topology, decision.targets, slots), f"the job can have {slots} slots at most"
    proposals = (
        each.limited_to(min(each.wanted, max(each.current, fitting[each.vertex])), Reason.NO_ROOM, detail)
        for each in decision.proposals
    )
    return replace(decision, proposals=tuple(proposals))


def _is_one(sample: JobSample, decision: Decision) -> bool:
    """Tell whether what was cut still is one parallelism for all that change, where there can be no other."""
    return sample.settings.adaptive or len({each.wanted for each in decision.changes.values()}) <= 1


def _awaiting(decision: Decision, more: int, free: int) -> Decision:
    message = f"{more} slots more are needed and {free} free: workers are asked for first; {decision.message}"
    return without_change(decision, Reason.WORKERS_AWAITED, message)
