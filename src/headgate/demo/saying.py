"""Reads what Headgate logs as JSON lines, for display alone: the judge never sees it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_DECISION = "decision"
_REPEATED = frozenset({"ScalingReport"})
"""Said by the decision already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """One thing that Headgate said about a job or a cluster."""

    at: datetime
    what: str
    """A decision's reason, or an event's."""
    message: str
    subject: str = ""
    """The job `cluster/name`, or the cluster."""
    rescales: bool = False
    """Whether it is a decision to change the parallelism."""


def is_ready(lines: Iterable[str]) -> bool:
    """Tell whether Headgate says that its first cycle is done."""
    return any(_record(line).get("event") == "ready" for line in lines)


def read_sayings(lines: Iterable[str]) -> list[Saying]:
    """Return what is told in log lines; what is no JSON, or no decision or event, is passed over."""
    return [saying for line in lines if (record := _record(line)) and (saying := _saying(record))]


def _record(line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _saying(record: Mapping[str, Any]) -> Saying | None:
    if record.get("event") in _REPEATED or not {"event", "message", "at"} <= record.keys():
        return None
    decided = record["event"] == _DECISION
    return Saying(
        at=datetime.fromisoformat(record["at"]),
        what=str(record.get("reason", "")) if decided else str(record["event"]),
        message=" ".join(str(record["message"]).split()),
        subject=str(record.get("job") or record.get("cluster", "")),
        rescales=decided and record.get("outcome") == "Rescale",
    )
