"""Hypothesis strategies for Headgate's values: every field is drawn, those with defaults included."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from hypothesis import reject
from hypothesis import strategies as st

from headgate.model.events import Event, EventReason, EventType
from headgate.model.identity import JobKey, VertexId
from headgate.model.state import Intent, JobState, Rejection, ScalingRecord
from headgate.options.declaration import Options, declarations
from headgate.options.expectation import bare
from headgate.options.units import LONGEST

OptionsT = TypeVar("OptionsT", bound=Options)

_BEGIN, _END = datetime(2020, 1, 1), datetime(2030, 1, 1)  # noqa: DTZ001 - Hypothesis adds the zone
_NAMES = st.text("0123456789abcdef", min_size=1, max_size=32)
_SPANS = st.timedeltas(timedelta(), LONGEST)


def durations() -> st.SearchStrategy[timedelta]:
    """Durations as options hold them, 0 included, to the microsecond."""
    return _SPANS


def instants() -> st.SearchStrategy[datetime]:
    """Aware instants in UTC, to the microsecond."""
    return st.datetimes(_BEGIN, _END, timezones=st.just(UTC))


def parallelisms() -> st.SearchStrategy[Mapping[VertexId, int]]:
    """The parallelism of a few vertices."""
    return st.dictionaries(_NAMES.map(VertexId), st.integers(1, 1000), max_size=3)


def events() -> st.SearchStrategy[Event]:
    """Events about jobs and clusters, with fields of every kind, infinite numbers included."""
    return st.builds(
        Event,
        at=instants(),
        type=st.sampled_from(EventType),
        reason=st.sampled_from(EventReason),
        message=st.text(),
        key=_NAMES,
        subject=st.builds(JobKey, _NAMES, st.text()) | _NAMES,
        fields=st.dictionaries(_NAMES, st.text() | st.integers() | st.floats(allow_nan=False), max_size=3),
        merge_interval=st.none() | _SPANS,
    )


def scaling_records(decision_ids: st.SearchStrategy[str] = _NAMES) -> st.SearchStrategy[ScalingRecord]:
    """Rescales that were made."""
    return st.builds(
        ScalingRecord,
        decision_id=decision_ids,
        at=instants(),
        before=parallelisms(),
        after=parallelisms(),
        reached_at=st.none() | instants(),
    )


def job_states() -> st.SearchStrategy[JobState]:
    """Whole states; decision ids come from a small set, so that states tell of the same rescales."""
    intent = st.builds(
        Intent,
        decision_id=_NAMES,
        decided_at=instants(),
        job_id=_NAMES,
        fingerprint=_NAMES,
        before=parallelisms(),
        after=parallelisms(),
        deadline=instants(),
        realized_at=st.none() | instants(),
        attempts=st.integers(0, 10),
    )
    rejection = st.builds(Rejection, after=parallelisms(), expires_at=instants(), why=st.text())
    few = {"max_size": 3}
    return st.builds(
        JobState,
        intent=st.none() | intent,
        rejections=_tuples(rejection, **few),
        history=_tuples(scaling_records(st.sampled_from(["d1", "d2", "d3", "d4"])), **few),
        outbox=_tuples(events(), **few),
    )


def options(group: type[OptionsT]) -> st.SearchStrategy[OptionsT]:
    """A group of options with every field drawn; draws that contradict each other are rejected."""
    fields = {declaration.name: _fitting(declaration.annotation) for declaration in declarations(group)}
    return st.fixed_dictionaries(fields).map(lambda values: _made(group, values))


def _made(group: type[OptionsT], values: Mapping[str, Any]) -> OptionsT:
    try:
        return group(**values)
    except ValueError:
        reject()


def _fitting(annotation: Any) -> st.SearchStrategy[Any]:
    kind, constraints = bare(annotation)
    if kind is timedelta:
        return _SPANS.filter(lambda span: all(bounds.holds(span) for bounds in constraints))
    if kind == tuple[str, ...]:
        return _tuples(_NAMES, max_size=3)
    if isinstance(kind, type) and issubclass(kind, Options):
        return options(kind)
    return st.from_type(annotation)


def _tuples(items: st.SearchStrategy[Any], max_size: int) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=max_size).map(tuple)
