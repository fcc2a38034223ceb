"""When wishes to shrink are worth a write: a vertex that goes on wishing the same need not be saved in every cycle."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from headgate.model.identity import VertexId
from headgate.model.state import DelayedScaleDown

Wishes = Mapping[VertexId, DelayedScaleDown]

PARTS = 20
"""Into so many parts of its interval the time of a repeated wish is rounded: 3 minutes of an hour."""


def is_news(before: Wishes, after: Wishes, interval: timedelta) -> bool:
    """Tell whether other vertices wish, or for something else, or have gone on wishing for a part of the interval."""
    if before.keys() != after.keys():
        return True
    return any(_has_changed(before[vertex], after[vertex], interval / PARTS) for vertex in after)


def _has_changed(before: DelayedScaleDown, after: DelayedScaleDown, part: timedelta) -> bool:
    if before.first_at != after.first_at or _wished(before) != _wished(after):
        return True
    return after.wishes[-1].at - before.wishes[-1].at >= part


def _wished(pending: DelayedScaleDown) -> list[tuple[int, bool]]:
    return [(wish.parallelism, wish.outside) for wish in pending.wishes]
