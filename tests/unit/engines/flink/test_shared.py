"""Answers that are asked for once, and given to all jobs of a cluster."""

from __future__ import annotations

from datetime import timedelta

from headgate.engines.flink.shared import Shared
from headgate.errors import UnreachableError
from headgate.testing.builders import at

NO_ANSWER = UnreachableError("no answer")


def flaky(*answers: str | None, keep_for: timedelta = timedelta()) -> Shared[str]:
    """Give what answers so at one call after the other; None fails."""
    left = list(answers)

    async def ask() -> str:
        answer = left.pop(0)
        if answer is None:
            raise NO_ANSWER
        return answer

    return Shared(ask, keep_for)


async def test_what_changes_rarely_outlives_a_call_that_fails() -> None:
    """And it is asked for again at the next tick, not when it would be due."""
    shared = flaky("old", None, None, "new", keep_for=timedelta(seconds=60))
    assert [await shared.get(at(second)) for second in (0, 30, 60, 70, 80, 90)] == ["old"] * 4 + ["new"] * 2


async def test_what_changes_at_each_tick_is_unknown_after_a_call_that_fails() -> None:
    """An old number would be a wrong one."""
    shared = flaky("old", None, "new")
    assert [await shared.get(at(second)) for second in (0, 10, 20)] == ["old", None, "new"]


async def test_what_was_never_answered_is_unknown() -> None:
    """There is nothing to fall back to."""
    shared = flaky(None, "new", keep_for=timedelta(seconds=60))
    assert [await shared.get(at(second)) for second in (0, 10)] == [None, "new"]
