"""
From the reference autoscaler's database to a state store: what it knew of each job's past, and nothing twice.

Nothing that the store knows is overwritten: rescales are added that it has not, and wishes to shrink only to a job that
it has never seen. The database is only read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import case, column, func, inspect, select, table

from headgate.errors import NotFoundError
from headgate.model.identity import JobKey, VertexId
from headgate.model.state import DelayedScaleDown, JobState, ScalingRecord
from headgate.ports import StateStore
from headgate.stores.connecting import connect, name_of
from headgate.stores.faults import translated
from headgate.stores.opening import url_faults
from headgate.stores.reference_state import LARGEST_VALUE, TABLE, ReferenceState, StateType, read_state

_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_ANSWER_WITHIN = timedelta(seconds=30)

_NO_COUNTERPART = {
    StateType.PARALLELISM: "the cluster runs at it, and Headgate goes by what runs",
    StateType.CONFIG: "Headgate tunes memory from what it measures itself",
    StateType.METRICS: "the window fills by itself",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of one job's rows."""

    job_id: str
    job: JobKey | None
    """None: nobody said what it is called here."""
    taken: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """Each with the reason."""


Rows = Mapping[str, Mapping[str, str | None]]
"""Values by type, by job id; None for one that is too large to be read."""


def read_reference(url: str) -> Rows:
    """
    Read all rows of a reference's database; a value that is too large stays there.

    Raises:
        ConfigError: no such URL, or its driver is not installed.
        NotFoundError: it has no such table.
        PermanentError: it cannot be read.
        UnreachableError: no answer.
    """
    rows: dict[str, dict[str, str | None]] = {}
    states = table(TABLE, column("job_key"), column("state_type"), column("state_value"))
    value = case((func.length(states.c.state_value) <= LARGEST_VALUE, states.c.state_value), else_=None)
    query = select(states.c.job_key, states.c.state_type, value.label("state_value"))
    with url_faults("--from", url):
        engine = connect(url, _ANSWER_WITHIN)
    try:
        with translated(name_of(url)), engine.connect() as connection:
            if not inspect(connection).has_table(TABLE):
                message = f"there is no table {TABLE} in {name_of(url)}. Hint: give the reference's own database"
                raise NotFoundError(message)
            for row in connection.execute(query):
                rows.setdefault(row.job_key, {})[row.state_type] = row.state_value
    finally:
        engine.dispose()
    return rows


def take_over(rows: Rows, names: Mapping[str, JobKey], store: StateStore) -> Iterator[Taken]:
    """
    Save what is worth taking of each job, one after the other.

    Args:
        rows: as `read_reference` gives them.
        names: what each job id is called here; the others are passed over.
        store: where to save.

    Raises:
        ConflictError: a running Headgate saved the job at the same instant; nothing of the job was taken.
        HeadgateError: the store cannot be used.
    """
    for job_id in sorted(rows):
        job = names.get(job_id)
        if job is None:
            yield Taken(job_id=job_id, job=None, left=("nobody said which job it is",))
        else:
            yield _take(job_id, job, rows[job_id], store)


def _take(job_id: str, job: JobKey, rows: Mapping[str, str | None], store: StateStore) -> Taken:
    found, held = read_state(job_id, rows), store.load(job)
    known = {record.decision_id for record in store.history(job, _EVER)}
    rescales = tuple(record for record in found.history if record.decision_id not in known)
    wishes = found.delayed if held.version == 0 else {}
    if rescales or wishes:
        store.save(job, _joined(held.state, rescales, replace(found, delayed=wishes)), held.version)
    restarts = sum(record.restart is not None for record in rescales)
    taken = {"rescales": len(rescales), "measured restarts": restarts, "vertices that wait to shrink": len(wishes)}
    left = [*_repeated(found, rescales), *_late_wishes(found, wishes), *_rest(found, rows)]
    return Taken(
        job_id=job_id, job=job, taken=tuple(f"{count} {what}" for what, count in taken.items() if count), left=(*left,)
    )


def _joined(state: JobState, rescales: tuple[ScalingRecord, ...], found: ReferenceState) -> JobState:
    history = tuple(sorted((*state.history, *rescales), key=lambda record: record.at))
    return replace(state, history=history, delayed={**found.delayed, **state.delayed})


def _repeated(found: ReferenceState, rescales: tuple[ScalingRecord, ...]) -> Iterator[str]:
    if again := len(found.history) - len(rescales):
        yield f"{again} rescales: taken before"


def _late_wishes(found: ReferenceState, wishes: Mapping[VertexId, DelayedScaleDown]) -> Iterator[str]:
    if found.delayed and not wishes:
        yield f"{StateType.DELAYED}: Headgate knows the job already and counts its own"


def _rest(found: ReferenceState, rows: Mapping[str, str | None]) -> Iterator[str]:
    for kind, why in found.unreadable.items():
        yield f"{kind}: unreadable: {why}"
    for kind, why in _NO_COUNTERPART.items():
        if kind in rows:
            yield f"{kind}: {why}"
