"""Holds a decision that was made again against the recorded one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher
from enum import StrEnum

from headgate.algorithm.explain import explain
from headgate.model.decision import Decision
from headgate.model.reasons import Reason
from headgate.replay.past import Recorded
from headgate.samplelog.rows import Row, decision_table, read_decision

OUTSIDE: Mapping[Reason, str] = {
    Reason.CYCLE_FAILED: "its cycle had failed",
    Reason.PLUGIN_FAILED: "a plugin had failed",
    Reason.JOB_NOT_RUNNING: "it was found gone while it was decided for",
    Reason.JOB_UNRECOVERABLE: "its checkers had condemned it",
    Reason.ROLLED_BACK: "a rescale of it was taken back",
    Reason.WORKERS_AWAITED: "it waited for workers of its cluster",
    Reason.NO_ROOM: "its cluster had no room for more",
}
"""Reasons that follow from what a cluster or a plugin said at that moment, which no log holds."""

ASKED_AGAIN = "its engine was asked again for an earlier change, and the answer is not in the log"


class Verdict(StrEnum):
    """How a decision that was made again stands to the recorded one."""

    EQUAL = "equal"
    """Byte for byte."""
    RENUMBERED = "other numbers"
    """The same becomes of the job, for other numbers or another reason."""
    DIFFERENT = "different"
    """Something else becomes of the job: from here on its recorded past is not what would have been."""
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One decision, held against the recorded one."""

    job: str
    at: datetime
    verdict: Verdict
    why: str = ""
    """Why it cannot be compared."""
    decided: tuple[str, ...] = ()
    """What was decided, in lines for people; only where it differs."""
    instead: tuple[str, ...] = ()
    """What would have been."""


def compared(recorded: Recorded, again: Decision, *, repeated: bool) -> Step:
    """
    Hold a decision against the recorded one.

    Args:
        recorded: the decision of then.
        again: the one of now.
        repeated: whether the engine was asked again for something that an earlier decision had begun.
    """
    job, at = str(again.job), recorded.at
    row = decision_table([again]).to_pylist()[0]
    if _text(row) == _text(recorded.row) or (_is_older(recorded.row) and _kept_then(row) == recorded.decision):
        return Step(job=job, at=at, verdict=Verdict.EQUAL)
    before = recorded.decision
    if why := OUTSIDE.get(before.reason, ASKED_AGAIN if repeated else ""):
        return Step(job=job, at=at, verdict=Verdict.NOT_COMPARABLE, why=why)
    verdict = Verdict.RENUMBERED if _course(before) == _course(again) else Verdict.DIFFERENT
    decided, instead = _differing(explain(before), explain(again))
    return Step(job=job, at=at, verdict=verdict, decided=decided, instead=instead)


def _is_older(row: Row) -> bool:
    """Tell whether a Headgate that named no numbers kept a decision as such."""
    return row["detail"] is None and row["names"] is None


def _kept_then(row: Row) -> Decision:
    """Read a decision as far as such a Headgate would have kept it."""
    decision = read_decision(row)
    if decision.evaluated is None:
        return decision
    return replace(
        decision,
        evaluated=replace(decision.evaluated, arrival=None, downtime=None, backlog=False, brokers_unknown=False),
    )


def _text(row: Row) -> str:
    # As text, for a number that is none does not equal itself.
    return json.dumps(dict(row), sort_keys=True)


def _course(decision: Decision) -> object:
    """Give what becomes of the job."""
    wanted = {vertex: change.wanted for vertex, change in decision.changes.items()}
    return wanted, decision.config, bool(wanted) and decision.is_made


def _differing(first: Sequence[str], second: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the lines that only one of them has, and with each the line that it belongs under."""
    same = SequenceMatcher(a=first, b=second, autojunk=False).get_matching_blocks()
    known = {place for block in same for place in range(block.a, block.a + block.size)}
    knows = {place for block in same for place in range(block.b, block.b + block.size)}
    return tuple(_outline(first, known)), tuple(_outline(second, knows))


def _outline(lines: Sequence[str], shared: set[int]) -> Iterator[str]:
    heads: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        heads = [(above, head) for above, head in heads if above < depth]
        if place in shared:
            heads.append((depth, line))
            continue
        yield from (head for _, head in heads)
        heads = []
        yield line
