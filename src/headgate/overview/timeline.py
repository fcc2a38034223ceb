"""From what was decided, kept and told of one job to its timeline; nothing is read here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headgate.algorithm.wording import amount
from headgate.control.recollection import Names
from headgate.control.rollback.reports import pause_text
from headgate.events.reading import KeptEvent
from headgate.model.decision import Decision
from headgate.model.events import EventReason
from headgate.model.identity import JobKey
from headgate.model.metrics import ScalingMetric
from headgate.model.orders import StandingOrders
from headgate.model.rollback import Rollback
from headgate.model.state import UNSEEN, JobState, ScalingRecord
from headgate.overview.entry import Entry, Kind, Point, Rescale
from headgate.overview.stretches import silences, stretches
from headgate.overview.summary import changes_of, lag_records
from headgate.overview.wording import told, words

_LEFT_OUT = {
    EventReason.SCALING_REPORT,
    EventReason.SCALING,
    EventReason.RESCALE_REACHED,
    EventReason.CONFIGURATION_RECOMMENDATION,
}
"""Events that say what the rescales and stretches say; and a recommendation, which has changed nothing."""
_KINDS: Mapping[str, Kind] = {
    EventReason.ROLLBACK: Kind.ROLLBACK,
    EventReason.PAUSED: Kind.ORDER,
    EventReason.RESUMED: Kind.ORDER,
}
_NUMBERS = {
    ScalingMetric.TRUE_PROCESSING_RATE: "true rate {}/s",
    ScalingMetric.TARGET_DATA_RATE: "target {}/s",
    ScalingMetric.LAG: "lag {}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """All that is known of one job's past."""

    job: JobKey
    since: datetime
    until: datetime
    decisions: Sequence[Decision] = ()
    """Oldest first."""
    records: Sequence[ScalingRecord] = ()
    """Rescales that the state store has kept, oldest first."""
    state: JobState = UNSEEN
    orders: StandingOrders = field(default_factory=StandingOrders)
    events: Sequence[KeptEvent] = ()


def timeline(sources: Sources, patience: timedelta) -> tuple[Entry, ...]:
    """
    Tell what happened to a job, oldest first.

    Args:
        sources: what is known of it.
        patience: longer than that without a decision is worth a line.
    """
    names = {p.vertex: p.name for decision in sources.decisions for p in decision.proposals}
    unmade = [decision for decision in sources.decisions if not decision.is_made]
    found = (
        *_rescales(sources, names),
        *stretches(unmade),
        *silences([*(decision.at for decision in sources.decisions), sources.until], patience),
        *_rollbacks(sources, names),
        *_orders(sources),
        *(_event(event) for event in sources.events if event.reason not in _LEFT_OUT),
    )
    return tuple(sorted(found, key=lambda entry: (entry.at, entry.until or entry.at)))


def points(decisions: Sequence[Decision]) -> tuple[Point, ...]:
    """Give what each decision saw, for a chart."""
    return tuple(
        Point(
            at=decision.at,
            parallelism=sum(p.current for p in decision.proposals) or None,
            lag=lag_records(decision),
            load=_load(decision),
        )
        for decision in decisions
    )


def _load(decision: Decision) -> float | None:
    known = decision.evaluated.vertices.values() if decision.evaluated else ()
    return max((each.metrics[ScalingMetric.LOAD] for each in known if ScalingMetric.LOAD in each.metrics), default=None)


def _rescales(sources: Sources, names: Names) -> Iterator[Entry]:
    """Tell of each rescale once: the store knows how it ended, the log why it was made."""
    made = {decision.id: decision for decision in sources.decisions if decision.is_made}
    intent = sources.state.intent
    for record in sources.records:
        decision = made.pop(record.decision_id, None)
        open_still = intent is not None and intent.decision_id == record.decision_id
        yield _recorded(record, decision, names, in_flight=open_still)
    for decision in made.values():
        yield _decided(decision, in_flight=intent is not None and intent.decision_id == decision.id)


def _recorded(record: ScalingRecord, decision: Decision | None, names: Names, *, in_flight: bool) -> Entry:
    changes = changes_of(record.before, record.after, names)
    rescale = Rescale(
        decision_id=record.decision_id,
        changes=changes,
        reached_at=record.reached_at,
        downtime_s=record.restart.total_seconds() if record.restart is not None else None,
        in_flight=in_flight,
    )
    why = (decision.message,) if decision else tuple(_numbers(record, names))
    return Entry(at=record.at, kind=Kind.RESCALE, what=", ".join(map(str, changes)), why=why, rescale=rescale)


def _decided(decision: Decision, *, in_flight: bool) -> Entry:
    wanted = {p.vertex: p for p in decision.changes.values()}
    changes = changes_of(
        {vertex: p.current for vertex, p in wanted.items()},
        {vertex: p.wanted for vertex, p in wanted.items()},
        {vertex: p.name for vertex, p in wanted.items()},
    )
    rescale = Rescale(decision_id=decision.id, changes=changes, in_flight=in_flight)
    what = ", ".join(map(str, changes))
    return Entry(at=decision.at, kind=Kind.RESCALE, what=what, why=(decision.message,), rescale=rescale)


def _numbers(record: ScalingRecord, names: Names) -> Iterator[str]:
    for vertex, metrics in record.metrics.items():
        known = [text.format(amount(metrics[metric])) for metric, text in _NUMBERS.items() if metric in metrics]
        if known:
            yield f"{names.get(vertex, vertex)}: {', '.join(known)}"


def _rollbacks(sources: Sources, names: Names) -> Iterator[Entry]:
    """Tell of the rollback that is remembered, unless an event tells it better."""
    rollback = sources.state.rollback
    if rollback is None or rollback.at < sources.since:
        return
    by_event = (event.fields.get("decision") for event in sources.events if event.reason == EventReason.ROLLBACK)
    if rollback.decision_id not in by_event:
        yield _taken_back(rollback, names)


def _taken_back(rollback: Rollback, names: Names) -> Entry:
    target = ", ".join(f"{names.get(vertex, vertex)} {subtasks}" for vertex, subtasks in rollback.target.items())
    return Entry(
        at=rollback.at,
        kind=Kind.ROLLBACK,
        what=f"rollback of decision {rollback.decision_id} to {target}",
        why=(str(rollback.why), f"nothing is scaled {pause_text(rollback)}"),
    )


def _orders(sources: Sources) -> Iterator[Entry]:
    """Tell of the orders that hold; of a pause that is over the events and the stretch of decisions are left."""
    orders = sources.orders.orders_of(sources.job)
    pause = orders.pause
    if pause and not any(each.reason == EventReason.PAUSED and each.first_at >= pause.at for each in sources.events):
        yield Entry(at=pause.at, kind=Kind.ORDER, what=told(pause))
    if given := orders.rollback:
        why = (given.why,) if given.why else ()
        yield Entry(at=given.at, kind=Kind.ORDER, what=f"rollback ordered by {given.by}", why=why)


def _event(event: KeptEvent) -> Entry:
    return Entry(
        at=event.first_at,
        until=event.last_at if event.count > 1 else None,
        kind=_KINDS.get(event.reason, Kind.EVENT),
        what=words(event.reason),
        count=event.count,
        why=(event.message,),
    )
