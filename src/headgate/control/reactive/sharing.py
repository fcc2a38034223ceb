"""At the begin of each cycle: which slots the reactive jobs of each cluster may use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from headgate.algorithm.reactive.shares import shares, wish_of
from headgate.algorithm.reactive.slots import slots_of
from headgate.algorithm.reactive.timings import Offers, offered
from headgate.control.observation import Observation
from headgate.control.reactive.ledger import Ledger, Standing
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.reactive import ExecutionMode

Seen = Mapping[JobKey, Observation]


def is_reactive(options: AutoscalerOptions) -> bool:
    """Tell whether a job is looked after, and follows the slots."""
    return options.enabled and options.execution_mode is ExecutionMode.REACTIVE


def by_cluster(observations: Seen, clusters: Collection[str]) -> Mapping[str, Seen]:
    """Give the jobs of each of these clusters."""
    found: dict[str, dict[JobKey, Observation]] = {cluster: {} for cluster in clusters}
    for job, seen in observations.items():
        if job.cluster in found:
            found[job.cluster][job] = seen
    return found


def latest_sample(jobs: Seen) -> JobSample | None:
    """Give the newest sample of a cluster's jobs that was taken at the last tick; None when none was."""
    fresh = [seen.sample for seen in jobs.values() if seen.sample is not None and seen.problem is None]
    return max(fresh, key=lambda sample: sample.at, default=None)


def used_slots(seen: Observation) -> int:
    """Give the slots that a job takes as it was last seen."""
    return slots_of(seen.sample.topology) if seen.sample else 0


def least_need(seen: Observation) -> int:
    """Give the slots that a job needs at least by its options; 1 as long as it was never seen to run."""
    if is_reactive(seen.ctx.options):
        return seen.ctx.options.reactive.min_parallelism
    return 0 if seen.sample else 1


def waiting_for_slots(jobs: Seen) -> frozenset[JobKey]:
    """Give the jobs that were never seen to run and are starting: most likely they wait for slots."""
    return frozenset(job for job, seen in jobs.items() if seen.sample is None and seen.ctx.status is JobStatus.STARTING)


def share_out(observations: Seen, ledger: Ledger, now: datetime) -> None:
    """
    Offer each reactive job its share of what the other jobs of its cluster leave, and do not wait for.

    A cluster of which nothing was seen at the last tick offers nothing new: what was offered still stands.
    """
    following = {job for job, seen in observations.items() if is_reactive(seen.ctx.options)}
    following -= ledger.paused  # what such a job has is its own
    ledger.keep_only(following)
    ledger.used = {job: used_slots(seen) for job, seen in observations.items()}
    for cluster, jobs in by_cluster(observations, {job.cluster for job in following}).items():
        ledger.jobs[cluster] = len(jobs)
        sample = latest_sample(jobs)
        if sample is None or sample.slots_total is None or sample.settings.reactive:
            continue
        total = min(sample.slots_total, ledger.caps.get(cluster, sample.slots_total))
        reactive = {job: seen for job, seen in jobs.items() if job in following}
        taken = sum(used_slots(seen) for job, seen in jobs.items() if job not in reactive)
        kept = _kept(jobs, total, {job: slots for job, slots in ledger.reserved.items() if job.cluster == cluster})
        _offer(reactive, total, taken + kept, ledger, now)


def _kept(jobs: Seen, total: int, reserved: Mapping[JobKey, int]) -> int:
    """Give the free slots that are kept for jobs that are being replaced; no job is made smaller for them."""
    used = {job: used_slots(seen) for job, seen in jobs.items()}
    free = total - sum(max(used[job], least_need(seen)) for job, seen in jobs.items())
    return min(max(0, free), sum(max(0, slots - used.get(job, 0)) for job, slots in reserved.items()))


def _offer(reactive: Seen, total: int, taken: int, ledger: Ledger, now: datetime) -> None:
    wishes = {
        job: wish_of(seen.sample.topology if seen.sample else None, seen.ctx.options) for job, seen in reactive.items()
    }
    for job, share in shares(total - taken, wishes).items():
        before = ledger.standings.get(job)
        offers = offered(before.offers if before else Offers(), share, now, reactive[job].ctx.options.reactive)
        ledger.standings[job] = Standing(wish=wishes[job], offers=offers, total=total)
