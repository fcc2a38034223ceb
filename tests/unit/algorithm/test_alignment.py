"""Targets move to where subtasks have equal shares, as far as the mode and the limits allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from headgate.algorithm.alignment import AlignmentMode, Span, align, aligned, mode_of, span_of
from headgate.algorithm.policies import Limits
from headgate.algorithm.propose import propose
from headgate.model.decision import Proposal
from headgate.model.events import EventReason, EventType
from headgate.model.identity import VertexId
from headgate.model.reasons import Reason
from headgate.model.topology import Vertex
from headgate.options.autoscaler import AutoscalerOptions, LegacyAdjustMode
from headgate.options.deviations import Deviation, Parity
from headgate.testing.builders import START, chain, evaluated

SOURCE = VertexId("source")
ALL_NEW = (AlignmentMode.BALANCED, AlignmentMode.EVENLY_SPREAD, AlignmentMode.OFF)
AT_ONCE = AutoscalerOptions(scale_down_interval=timedelta(), scale_down_max_factor=1.0)
LEGACY = AutoscalerOptions(legacy_adjust_mode=LegacyAdjustMode.EVENLY_SPREAD, max_parallelism=5)


def _span(current: int, shares: int, most: int = 200) -> Span:
    return Span(current=current, shares=shares, lower=1, most=most)


def _each(modes: Sequence[AlignmentMode], target: int, span: Span) -> list[int]:
    return [align(target, span, mode).parallelism for mode in modes]


def _source(parallelism: int, partitions: int | None) -> Vertex:
    return Vertex(id=SOURCE, name="source", parallelism=parallelism, max_parallelism=180, partitions=partitions)


def _moved(vertex: Vertex, proposal: Proposal, options: AutoscalerOptions, *, keyed: bool = False) -> Proposal:
    span = span_of(vertex, Limits.of(vertex, options))
    return aligned(vertex, span, mode_of(options), keyed=keyed)(proposal)


def _proposal(current: int, wanted: int) -> Proposal:
    return Proposal(vertex=SOURCE, name="source", current=current, wanted=wanted)


@pytest.mark.parametrize(
    ("current", "target", "shares", "found"),
    [
        (16, 24, 128, [26, 32, 24]),
        (40, 20, 128, [22, 32, 20]),
        (4, 6, 13, [7, 13, 6]),
        (6, 5, 6, [6, 6, 5]),
    ],
)
def test_each_mode_goes_as_far_as_it_may(current: int, target: int, shares: int, found: list[int]) -> None:
    """A smaller largest share is enough for BALANCED, EVENLY_SPREAD looks for a divisor, OFF looks for nothing."""
    assert _each(ALL_NEW, target, _span(current, shares)) == found


def test_shrinking_never_ends_above_the_running_parallelism() -> None:
    """The next divisor of 100 above 11 is 20, which would be growth for a vertex of 15: the target stays."""
    assert align(11, _span(15, 100), AlignmentMode.EVENLY_SPREAD).parallelism == 11


@pytest.mark.parametrize("shares", [3, 5, 7, 11, 13])
def test_a_prime_number_of_partitions_stops_no_growth(shares: int) -> None:
    """
    Growth by one subtask within the user's limit is made although no divisor is in reach.

    The older modes cancel it (FLINK-39299).
    """
    current = shares - 2
    span = _span(current, shares, most=current + 1)

    assert _each(ALL_NEW, current + 1, span) == [current + 1] * 3
    assert align(current + 1, span, AlignmentMode.LEGACY_EVENLY_SPREAD).parallelism == current


@pytest.mark.parametrize("target", [180, 50, 10])
def test_a_source_never_grows_past_its_partitions(target: int) -> None:
    """15 partitions, 100 subtasks: whatever is wanted, 15 can work (FLINK-40389, the published numbers)."""
    span = _span(100, 15, most=180)

    assert _each((AlignmentMode.BALANCED, AlignmentMode.EVENLY_SPREAD), target, span) == [15, 15]
    assert _each((AlignmentMode.LEGACY_EVENLY_SPREAD, AlignmentMode.LEGACY_MAXIMIZE_UTILISATION), target, span) == [
        15,
        15,
    ]


OFF = replace(AT_ONCE, alignment_mode="OFF")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (AT_ONCE, 15),
        (replace(AT_ONCE, parity=Parity.REFERENCE), 15),
        (replace(AT_ONCE, deviations_off=(Deviation.PARTITIONS_BOUND,)), 15),
        (OFF, 15),
        (replace(OFF, parity=Parity.REFERENCE), 20),
        (replace(OFF, deviations_off=(Deviation.PARTITIONS_BOUND,)), 20),
    ],
)
def test_without_alignment_the_bound_is_a_deviation_by_name(options: AutoscalerOptions, wanted: int) -> None:
    """The reference's release 1.16.0 bounds a source of 15 partitions by its modes; what it does without is its own."""
    topology = chain({"source": 10})
    topology = replace(topology, vertices=(replace(topology.vertices[0], partitions=15),))

    assert propose(topology, evaluated(topology, {"source": 2.0}), options, START)[0].wanted == wanted


def test_only_who_has_shares_is_aligned() -> None:
    """Nothing is divided without partitions or a hashed input; key groups are, once there is one."""
    vertex = replace(_source(16, None), max_parallelism=128)
    proposal = _proposal(16, 24)

    assert _moved(vertex, proposal, AT_ONCE) is proposal
    moved = _moved(vertex, proposal, AT_ONCE, keyed=True)
    assert (moved.wanted, moved.steps[-1].reason) == (26, Reason.ALIGNMENT)
    assert moved.steps[-1].detail == "128 key groups, BALANCED"


def test_a_target_at_the_running_parallelism_is_not_aligned() -> None:
    """Who wants nothing is not moved for the sake of shares, not even where some subtasks have none."""
    proposal = _proposal(24, 24)

    assert _moved(_source(24, 15), proposal, AT_ONCE, keyed=True) is proposal


@pytest.mark.parametrize(
    ("mode", "legacy", "found"),
    [
        (None, None, AlignmentMode.BALANCED),
        ("OFF", None, AlignmentMode.OFF),
        ("OFF", LegacyAdjustMode.EVENLY_SPREAD, AlignmentMode.OFF),
        (None, LegacyAdjustMode.EVENLY_SPREAD, AlignmentMode.LEGACY_EVENLY_SPREAD),
        (None, LegacyAdjustMode.MAXIMIZE_UTILISATION, AlignmentMode.LEGACY_MAXIMIZE_UTILISATION),
        ("mine", LegacyAdjustMode.EVENLY_SPREAD, AlignmentMode.BALANCED),
        ("LEGACY_EVENLY_SPREAD", None, AlignmentMode.BALANCED),
    ],
)
def test_the_older_option_counts_only_by_itself(
    mode: str | None, legacy: LegacyAdjustMode | None, found: AlignmentMode
) -> None:
    """A mode that is named holds, one that is not known is BALANCED, and the inner names are nobody's to use."""
    assert mode_of(AutoscalerOptions(alignment_mode=mode, legacy_adjust_mode=legacy)) is found


def test_a_change_that_an_older_mode_cuts_short_is_told() -> None:
    """Seven partitions and at most five subtasks: five have no smaller largest share than four."""
    found = _moved(_source(2, 7), _proposal(2, 5), LEGACY)

    (notice,) = found.notices
    assert found.wanted == 4
    assert (notice.reason, notice.type) == (EventReason.SCALING_LIMITED, EventType.WARNING)
    assert notice.fields == {
        "expected_parallelism": 5,
        "actual_parallelism": 4,
        "num_key_groups_or_partitions": 7,
        "upper_bound": 5,
        "lower_limit": 1,
    }


def test_an_older_mode_stops_a_change_that_it_would_turn_round() -> None:
    """Five of seven partitions would fall back to the four that run: nothing moves, and that is told."""
    found = _moved(_source(4, 7), _proposal(4, 5), LEGACY)

    assert not found.changes
    assert [notice.reason for notice in found.notices] == [EventReason.SCALING_LIMITED]
