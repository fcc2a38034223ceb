"""Answers that are asked for once, and given to all jobs of a cluster."""

from __future__ import annotations

from datetime import timedelta

from headgate.engines.flink.shared import Kept, Shared
from headgate.errors import UnreachableError
from headgate.testing.builders import at

NO_ANSWER = UnreachableError("no answer")


def flaky(*answers: str | None, keep_for: timedelta = timedelta(), kept: Kept[str] | None = None) -> Shared[str]:
    """Give what answers so at one call after the other; None fails."""
    left = list(answers)

    async def ask() -> str:
        answer = left.pop(0)
        if answer is None:
            raise NO_ANSWER
        return answer

    return Shared(ask, keep_for, kept=kept)


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


async def test_another_goes_on_with_what_is_known() -> None:
    """It believes the answer for as long as the first would, also an old one, which it asks for again at once."""
    keep_for = timedelta(seconds=60)
    first = flaky("old", None, keep_for=keep_for)
    await first.get(at(0))
    second = Shared(never, keep_for, kept=first.kept)
    assert await second.get(at(59)) == "old"
    await first.get(at(60))
    third = flaky(None, "new", keep_for=keep_for, kept=first.kept)
    assert [await third.get(at(second)) for second in (70, 80)] == ["old", "new"]


async def never() -> str:
    """Stand for a call that nobody makes."""
    raise AssertionError
