"""How surely it is known how much waits before a job's sources, and what is not done as long as that is doubted."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.algorithm.plan import Plan, not_shrinking
from headgate.algorithm.rules import rules_of
from headgate.model.lag import LagOrigin, Outage
from headgate.model.measures import JobMeasure
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation

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


def surely_shrinking(plan: Plan, sample: JobSample, options: AutoscalerOptions, state: JobState) -> Plan:
    """Let nothing shrink while more may wait than is known."""
    origin = lag_origin(sample)
    if origin is None or origin.is_sure or Deviation.SURE_LAG not in rules_of(options):
        return plan
    return not_shrinking(plan, state, Reason.LAG_DOUBTED, TOLD[origin])
