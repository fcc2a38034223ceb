"""
Alignment: a parallelism at which every subtask gets the same number of key groups or partitions.

The modes are those of the reference's release 1.16.0: all but `OFF` end at the partitions of a source (FLINK-40389).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from headgate.algorithm.bounds import EVERYWHERE, Room
from headgate.algorithm.policies import Limits, Policy
from headgate.model.decision import Notice, Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.reasons import Reason
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions, LegacyAdjustMode


class AlignmentMode(StrEnum):
    """How far a target may be moved to get equal shares."""

    BALANCED = "BALANCED"
    """To the next divisor, or to where the largest share gets smaller at least."""
    EVENLY_SPREAD = "EVENLY_SPREAD"
    """To the next divisor only."""
    OFF = "OFF"
    """Not at all."""
    LEGACY_EVENLY_SPREAD = "LEGACY_EVENLY_SPREAD"
    """As `EVENLY_SPREAD`; where there is no divisor the change may be cut short or stopped."""
    LEGACY_MAXIMIZE_UTILISATION = "LEGACY_MAXIMIZE_UTILISATION"
    """As `BALANCED`; where nothing is found the change may be cut short or stopped."""

    @property
    def is_legacy(self) -> bool:
        """Tell whether it is of the kind that may stop a change."""
        return self in {AlignmentMode.LEGACY_EVENLY_SPREAD, AlignmentMode.LEGACY_MAXIMIZE_UTILISATION}

    @property
    def takes_smaller_shares(self) -> bool:
        """Tell whether a smaller largest share is good enough where shares cannot be equal."""
        return self in {AlignmentMode.BALANCED, AlignmentMode.LEGACY_MAXIMIZE_UTILISATION}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What alignment may move within."""

    current: int
    shares: int
    """Key groups or partitions that the subtasks divide among them."""
    lower: int
    """Least parallelism allowed, by the user and by what is remembered."""
    most: int
    """Largest parallelism allowed, by the user, by the key groups and by what is remembered."""

    @property
    def upper(self) -> int:
        """The largest parallelism at which no subtask goes empty-handed."""
        return min(self.shares, self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """What became of a target."""

    parallelism: int
    fell_short: bool = False
    """Whether a legacy mode cut the change short, or stopped it."""


OwnAlignment = Callable[[Vertex, int, Span], int | None]
"""
A mode of somebody's own: gives the aligned parallelism of a vertex, its target and what it may be moved within.

None where the mode does not apply to the vertex.
"""


def mode_of(options: AutoscalerOptions) -> AlignmentMode:
    """Give the alignment mode: the one named, else the older option's where that is set, else `BALANCED`."""
    if options.alignment_mode is not None:
        known = {str(mode) for mode in AlignmentMode if not mode.is_legacy}
        return AlignmentMode(options.alignment_mode) if options.alignment_mode in known else AlignmentMode.BALANCED
    return _LEGACY[options.legacy_adjust_mode] if options.legacy_adjust_mode else AlignmentMode.BALANCED


_LEGACY = {
    LegacyAdjustMode.EVENLY_SPREAD: AlignmentMode.LEGACY_EVENLY_SPREAD,
    LegacyAdjustMode.MAXIMIZE_UTILISATION: AlignmentMode.LEGACY_MAXIMIZE_UTILISATION,
}


def is_applicable(vertex: Vertex, *, keyed: bool) -> bool:
    """Tell whether subtasks have shares at all: a source's known partitions, or the key groups of a hashed input."""
    return bool(vertex.partitions) or keyed


def aligned(vertex: Vertex, span: Span, mode: AlignmentMode, *, keyed: bool) -> Policy:
    """Move a change to a parallelism at which subtasks have equal shares; `keyed`: whether an input is hashed."""
    kind = "partitions" if vertex.partitions else "key groups"

    def policy(proposal: Proposal) -> Proposal:
        if not proposal.changes or not is_applicable(vertex, keyed=keyed):
            return proposal
        found = align(proposal.wanted, span, mode)
        told = proposal.noticing(_short(proposal, found.parallelism, span)) if found.fell_short else proposal
        return told.limited_to(found.parallelism, Reason.ALIGNMENT, f"{span.shares} {kind}, {mode}")

    return policy


def aligned_by(own: OwnAlignment, vertex: Vertex, span: Span, name: str | None) -> Policy:
    """Move a change as a mode of somebody's own says, but no further than a vertex may be aligned."""

    def policy(proposal: Proposal) -> Proposal:
        found = own(vertex, proposal.wanted, span) if proposal.changes else None
        if found is None:
            return proposal
        detail = f"{name} gives {found}, {span.lower} to {span.most} is allowed"
        return proposal.limited_to(min(max(found, span.lower), span.most), Reason.ALIGNMENT, detail)

    return policy


def span_of(vertex: Vertex, limits: Limits, room: Room = EVERYWHERE) -> Span:
    """Return what a vertex may be aligned within."""
    return Span(
        current=vertex.parallelism,
        shares=vertex.partitions or vertex.max_parallelism,
        lower=max(limits.lower, room.least),
        most=min(vertex.max_parallelism, limits.upper, room.most),
    )


def align(target: int, span: Span, mode: AlignmentMode) -> Aligned:
    """
    Return the aligned parallelism nearest above a target, the target itself where there is none.

    No subtask is left without a share but by `OFF`, also where the vertex runs with such ones.

    Args:
        target: within the limits, and not the running parallelism.
        span: what it may be moved within.
        mode: how.

    Source: the reference's `BuiltInAlignmentMode` (FLIP-586) and `KeyGroupOrPartitionsAdjustMode`.
    """
    if mode is AlignmentMode.OFF:
        return Aligned(parallelism=target)
    found = _search(target, span, mode)
    if found is not None:
        return Aligned(parallelism=found)
    if not mode.is_legacy:
        return Aligned(parallelism=min(target, span.upper))
    fallback = _legacy(target, span)
    return Aligned(parallelism=fallback, fell_short=fallback != target)


def _search(target: int, span: Span, mode: AlignmentMode) -> int | None:
    """Look upwards from the target, but not past the running parallelism when shrinking."""
    last = span.upper if target > span.current else min(span.current, span.upper)
    fits = _fits(target, span.shares, mode)
    return next((parallelism for parallelism in range(target, last + 1) if fits(parallelism)), None)


def _fits(target: int, shares: int, mode: AlignmentMode) -> Callable[[int], bool]:
    largest = shares // target
    return lambda p: shares % p == 0 or (mode.takes_smaller_shares and shares // p < largest)


def _legacy(target: int, span: Span) -> int:
    """Go down to where the largest share grows; stay where that would turn the change round."""
    fallback = max(_with_larger_share(target, span.shares), span.lower)
    if span.current > span.upper:
        return min(fallback, span.upper)
    turned = fallback <= span.current if target > span.current else fallback >= span.current
    return span.current if turned else fallback


def _with_larger_share(target: int, shares: int) -> int:
    """Give the least parallelism whose largest share is the target's; at the end of the search the one beyond."""
    larger = next((p for p in range(target, 0, -1) if shares // p > shares // target), 0)
    return larger + 1 if larger and shares % larger else larger


def _short(proposal: Proposal, got: int, span: Span) -> Notice:
    return Notice(
        reason=EventReason.SCALING_LIMITED,
        type=EventType.WARNING,
        message=(
            f"{proposal.name} wants {proposal.wanted} and gets {got}: {span.shares} key groups or partitions, "
            f"{span.lower} to {span.most} is allowed"
        ),
        key=f"ScalingLimited:{proposal.vertex}",
        fields={
            "expected_parallelism": proposal.wanted,
            "actual_parallelism": got,
            "num_key_groups_or_partitions": span.shares,
            "upper_bound": span.most,
            "lower_limit": span.lower,
        },
    )
