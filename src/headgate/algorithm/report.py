"""The scaling report: what changes, vertex by vertex, in a text for people that programs can read back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from headgate.model.decision import Decision, Proposal
from headgate.model.metrics import ScalingMetric, VertexMetrics

_ENTRY = re.compile(
    r"\{(?P<vertex>[^|}]+) \| parallelism (?P<before>\d+) -> (?P<after>\d+)"
    r" \| capacity (?P<rate>\S+) -> (?P<expected>\S+) \| target (?P<target>[^\s}]+)\}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One vertex of a report; rates in records/s as texts of two decimals, `Infinity` or `NaN`."""

    vertex: str
    before: int
    after: int
    rate: str
    """True processing rate."""
    expected: str
    """True processing rate to be had at the new parallelism."""
    target: str

    @classmethod
    def of(cls, proposal: Proposal, known: VertexMetrics | None) -> Self:
        """Give the entry of a change."""
        metrics = known.metrics if known else {}
        rate = metrics.get(ScalingMetric.TRUE_PROCESSING_RATE, math.nan)
        return cls(
            vertex=proposal.name,
            before=proposal.current,
            after=proposal.wanted,
            rate=two_decimals(rate),
            expected=two_decimals(proposal.rate_at_wanted(rate)),
            target=two_decimals(metrics.get(ScalingMetric.TARGET_DATA_RATE, math.nan)),
        )

    def __str__(self) -> str:
        """Write the entry as `read_entries` reads it."""
        return (
            f"{{{self.vertex} | parallelism {self.before} -> {self.after}"
            f" | capacity {self.rate} -> {self.expected} | target {self.target}}}"
        )


def entries(decision: Decision) -> tuple[Entry, ...]:
    """Give an entry for each vertex that changes."""
    known = decision.evaluated.vertices if decision.evaluated else {}
    return tuple(Entry.of(change, known.get(vertex)) for vertex, change in decision.changes.items())


def read_entries(text: str) -> Iterable[Entry]:
    """Read the entries of a report, whatever stands around them."""
    for match in _ENTRY.finditer(text):
        vertex, before, after, rate, expected, target = match.groups()
        yield Entry(vertex=vertex, before=int(before), after=int(after), rate=rate, expected=expected, target=target)


def two_decimals(rate: float) -> str:
    """Write a rate as the reports do."""
    return f"{rate:.2f}" if math.isfinite(rate) else "NaN" if math.isnan(rate) else "Infinity"
