"""How surely it is known how much waits before a job's sources, and what is not done as long as that is doubted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headgate.algorithm.plan import Plan, not_shrinking
from headgate.algorithm.rules import rules_of
from headgate.model.decision import Decision, Notice
from headgate.model.events import EventReason, EventType
from headgate.model.identity import JobKey
from headgate.model.lag import LagOrigin, Outage
from headgate.model.measures import JobMeasure
from headgate.model.printable import printable
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.options.kafka import example

TOLD: Mapping[LagOrigin, str] = {
    LagOrigin.UNKNOWN: "its lag is unknown, so it never shrinks",
    LagOrigin.OFFSETS: "lag by the latest offsets",
    LagOrigin.LISTING: "lag by a listing of the source",
    LagOrigin.TRIGGER: "lag inferred from the triggers",
    LagOrigin.COMMITTED: "lag by committed offsets, by up to a checkpoint too high",
    LagOrigin.CONNECTOR: "lag as the connector says",
    LagOrigin.IDLENESS: "no lag, as its sources wait for records",
    LagOrigin.DOUBTED: "lag is at least what the connector says, which fetches far ahead; its source never idles",
}
"""Each origin in words."""

BROKERS_UNKNOWN = "reads Kafka; its brokers are not known"
"""Of a job, or of one of its sources."""

_NAMED = 5
"""Jobs that a sentence names at most."""

_CUT_OFF: Mapping[Outage, str] = {
    Outage.UNANSWERED: "the brokers do not answer",
    Outage.DISCONNECTED: "it has no connection",
    Outage.CHECKPOINT: "no checkpoint completes",
}


def lag_origin(sample: JobSample) -> LagOrigin | None:
    """Give where a job's lag is known from; None where the collector does not say."""
    origin = sample.values.get(JobMeasure.LAG_ORIGIN)
    return None if origin is None else LagOrigin(int(origin))


def cut_off(sample: JobSample) -> str | None:
    """Say by what it is told that a source cannot reach what it reads; None while all can."""
    outage = sample.values.get(JobMeasure.OUTAGE)
    return None if outage is None else f"a source reads nothing, and {_CUT_OFF[Outage(int(outage))]}"


def brokers_unknown(sample: JobSample) -> bool:
    """Return whether a source reads Kafka and no brokers are declared for its job."""
    return JobMeasure.BROKERS_UNKNOWN in sample.values


def lacks_brokers(decision: Decision) -> bool:
    """Return whether a job's decision was made without brokers that could be declared."""
    known = decision.evaluated
    noticed = any(each.reason is EventReason.OFFSETS_UNAVAILABLE for each in decision.notices)
    return noticed or (known is not None and known.brokers_unknown)


def told_brokers_unknown(jobs: Sequence[JobKey]) -> str:
    """Say of jobs that read Kafka that their brokers are not known, and give the line of YAML that mends it."""
    named = [printable(str(job)) for job in jobs[:_NAMED]]
    if len(jobs) > _NAMED:
        named.append(f"{len(jobs) - _NAMED} more")
    who = named[0] if len(jobs) == 1 else f"each of {', '.join(named)}"
    lag = "its lag is what the connector says, which may be 0 while thousands of records wait"
    return f"{who} {BROKERS_UNKNOWN}, and {lag}. Hint: add `{example(jobs)}` with their addresses to headgate.yaml"


def notice_brokers_unknown(job: JobKey) -> Notice:
    """Return the notice of a job that reads Kafka whose brokers are not known."""
    return Notice(
        type=EventType.WARNING,
        reason=EventReason.OFFSETS_UNAVAILABLE,
        message=told_brokers_unknown([job]),
        key="brokers",
    )


def surely_shrinking(plan: Plan, sample: JobSample, options: AutoscalerOptions, state: JobState) -> Plan:
    """Let nothing shrink while more may wait than is known."""
    origin = lag_origin(sample)
    if origin is None or origin.is_sure or Deviation.SURE_LAG not in rules_of(options):
        return plan
    return not_shrinking(plan, state, Reason.LAG_DOUBTED, TOLD[origin])
