"""What is remembered of a job, in lines of text for people: what is on trial, what was taken back, what is ordered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from headgate.algorithm.bounds import told
from headgate.algorithm.wording import moment
from headgate.control.rollback.reports import pause_text
from headgate.control.rollback.trials import trial_of
from headgate.model.identity import VertexId
from headgate.model.orders import Orders
from headgate.model.rollback import Rollback, Trial
from headgate.model.state import JobState

Names = Mapping[VertexId, str]


def recollection(state: JobState, names: Names, now: datetime) -> tuple[str, ...]:
    """
    Give a line for the rescale on trial, for the one that was taken back, and for each bound that still holds.

    Args:
        state: of the job.
        names: of its vertices; one without a name is called by its id.
        now: bounds that have expired by then are left out.
    """
    return tuple(_lines(state, names, now))


def orders_held(orders: Orders) -> tuple[str, ...]:
    """Give a line for each order that holds for a job, and who gave it."""
    pause = [f"paused by {orders.pause}"] if orders.pause else []
    rollback = [f"its last rescale is to be taken back, ordered by {orders.rollback}"] if orders.rollback else []
    options = (f"{key} is {text}, {set_by(orders, key)}" for key, text in sorted(orders.options.items()))
    return (*pause, *rollback, *options)


def set_by(orders: Orders, key: str) -> str:
    """Say who has set an option."""
    given = orders.given.get(key)
    return f"set by {given}" if given else "set by somebody"


def _lines(state: JobState, names: Names, now: datetime) -> Iterator[str]:
    if trial := trial_of(state):
        yield f"under observation since {moment(trial.began_at)}: {_trial(trial, names)}"
    if rollback := state.rollback:
        yield f"taken back at {moment(rollback.at)}: {_rollback(rollback, names)}"
    for bound in state.bounds:
        if bound.expires_at > now:
            yield f"{names.get(bound.vertex, bound.vertex)}: {told(bound)}"


def _trial(trial: Trial, names: Names) -> str:
    before = trial.before.parallelism
    changes = [
        f"{names.get(vertex, vertex)} {before.get(vertex, '?')} -> {wanted}" for vertex, wanted in trial.after.items()
    ]
    parts = [f"decision {trial.decision_id}, {', '.join(changes)}"]
    if trial.takes_back:
        parts.append(f"it takes back {trial.takes_back}")
    if trial.memory_raised_at:
        parts.append(f"more memory was asked for at {moment(trial.memory_raised_at)}")
    parts.append(
        f"the job runs so since {moment(trial.reached_at)}" if trial.reached_at else "the job never ran so yet"
    )
    if trial.down_since:
        parts.append(f"it is not running since {moment(trial.down_since)}")
    return "; ".join(parts)


def _rollback(rollback: Rollback, names: Names) -> str:
    target = ", ".join(f"{names.get(vertex, vertex)} {subtasks}" for vertex, subtasks in rollback.target.items())
    return (
        f"decision {rollback.decision_id}, as {rollback.why}; back to {target}; "
        f"nothing is scaled {pause_text(rollback)}"
    )
