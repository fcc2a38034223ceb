"""One job's last decision and what is remembered of it, put together to a row of the listing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.algorithm.lag import lacks_brokers
from headgate.algorithm.sla import lag_time_s
from headgate.model.decision import Decision
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.model.orders import Given
from headgate.model.state import UNSEEN, JobState
from headgate.overview.row import Advice, Busiest, Change, Doing, JobRow, Lag, Trend
from headgate.overview.standing import attention, standing
from headgate.overview.wording import why_not

_STEADY = 0.05
"""A lag that changed by no more than this share of itself goes nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the listing goes by for one job."""

    decision: Decision
    """The latest."""
    earlier: Decision | None = None
    """One of some minutes before."""
    state: JobState = UNSEEN
    pause: Given | None = None
    names: Mapping[VertexId, str] = field(default_factory=dict)
    """Of vertices that the decision does not name."""


def row_of(known: Known, now: datetime, patience: timedelta, *, silent: bool = False) -> JobRow:
    """
    Sum one job up.

    Args:
        known: of the job.
        now: the present.
        patience: a decision older than that says that nobody decides on the job any more.
        silent: whether nobody decides on any, which is no news of this one.
    """
    decision, age = known.decision, now - known.decision.at
    standings = standing(decision, known.state, known.pause)
    return JobRow(
        job=decision.job,
        standing=standings,
        attention=attention(decision, standings, left_out=age > patience and not silent),
        parallelism=_parallelism(decision) or _parallelism(known.earlier),
        busiest=_busiest(decision),
        lag=_lag(known),
        advice=_advice(known),
        reason=decision.reason,
        why=why_not(decision, known.pause),
        message=decision.message,
        pause=known.pause,
        decided_at=decision.at,
        age_s=max(age.total_seconds(), 0.0),
        is_stale=age > patience,
        brokers_unknown=lacks_brokers(decision),
    )


def lag_records(decision: Decision | None) -> float | None:
    """Give the records that wait in all sources of a job; None where no source tells."""
    lags = [lag for lag, _ in _lags(decision)] if decision else []
    return sum(lags) if lags else None


def _parallelism(decision: Decision | None) -> int | None:
    return sum(proposal.current for proposal in decision.proposals) or None if decision else None


def _busiest(decision: Decision) -> Busiest | None:
    evaluated = decision.evaluated.vertices if decision.evaluated else {}
    found = [
        Busiest(name=proposal.name, load=known.metrics[ScalingMetric.LOAD], parallelism=proposal.current)
        for proposal in decision.proposals
        if (known := evaluated.get(proposal.vertex)) and ScalingMetric.LOAD in known.metrics
    ]
    return max(found, key=lambda busiest: busiest.load, default=None)


def _lag(known: Known) -> Lag | None:
    records = lag_records(known.decision)
    if records is None:
        return None
    ages = [lag_time_s(lag, rate) for lag, rate in _lags(known.decision) if rate is not None]
    return Lag(
        records=records,
        seconds=max(ages) if ages else None,
        trend=_trend(lag_records(known.earlier), records),
    )


def _lags(decision: Decision) -> Iterator[tuple[float, float | None]]:
    """Give for each source that tells it its lag, records, and what comes in, records/s."""
    for known in decision.evaluated.vertices.values() if decision.evaluated else ():
        if ScalingMetric.LAG in known.metrics:
            yield known.metrics[ScalingMetric.LAG], known.metrics.get(ScalingMetric.TARGET_DATA_RATE)


def _trend(before: float | None, now: float) -> Trend | None:
    if before is None:
        return None
    if abs(now - before) <= _STEADY * max(now, before):
        return Trend.STEADY
    return Trend.GROWING if now > before else Trend.SHRINKING


def _advice(known: Known) -> Advice | None:
    """Give what is under way, else what was just decided, else what was done last."""
    decision, state = known.decision, known.state
    names = {**known.names, **{proposal.vertex: proposal.name for proposal in decision.proposals}}
    if state.intent:
        changes = changes_of(state.intent.before, state.intent.after, names)
        return Advice(doing=Doing.UNDER_WAY, at=state.intent.decided_at, changes=changes)
    if decision.changes:
        wanted = (Change(name=p.name, before=p.current, after=p.wanted) for p in decision.changes.values())
        doing = Doing.UNDER_WAY if decision.acts else Doing.ADVISED
        return Advice(doing=doing, at=decision.at, changes=tuple(wanted))
    if state.history:
        last = state.history[-1]
        return Advice(doing=Doing.DONE, at=last.at, changes=changes_of(last.before, last.after, names))
    return None


def changes_of(
    before: Mapping[VertexId, int], after: Mapping[VertexId, int], names: Mapping[VertexId, str]
) -> tuple[Change, ...]:
    """Give the change of each vertex, by its name where that is known."""
    return tuple(
        Change(name=names.get(vertex, vertex), before=before.get(vertex), after=wanted)
        for vertex, wanted in after.items()
    )
