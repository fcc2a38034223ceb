"""A question is asked once for all who have it, and no more often than allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from headgate.errors import UnreachableError
from headgate.ports import Missing
from headgate.signals.answers import Answer, Answers, Reading

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR, INSTANT = timedelta(hours=1), timedelta(microseconds=1)


class System:
    """Answers every question with its length, and notes how it was asked."""

    def __init__(self) -> None:
        """Begin without questions."""
        self.asked: list[Sequence[str]] = []
        self.fault: Exception | None = None
        self.begun = asyncio.Event()
        self.held = asyncio.Event()
        self.held.set()

    async def ask(self, questions: Sequence[str]) -> Mapping[str, Answer]:
        """Answer, once nothing holds it up."""
        self.asked.append(sorted(questions))
        self.begun.set()
        await self.held.wait()
        if self.fault:
            raise self.fault
        return {one: Reading(value=float(len(one)), measured_at=NOON) for one in questions if one != "silence"}


def answers(system: System, *, refresh: timedelta = HOUR, limit: timedelta = HOUR) -> Answers[str]:
    """Stand before the system."""
    return Answers(system.ask, refresh=refresh, limit=lambda _: limit)


async def test_many_jobs_ask_in_one_go() -> None:
    """What three jobs want at the same time is one call, and a question that two of them have is asked once."""
    system = System()
    kept = answers(system)
    found = await asyncio.gather(kept.get({"a", "bb"}), kept.get({"bb"}), kept.get({"ccc"}))
    assert system.asked == [["a", "bb", "ccc"]]
    assert found[1]["bb"] == Reading(value=2.0, measured_at=NOON)


async def test_a_good_answer_is_not_asked_for_again() -> None:
    """Until its refresh interval is over."""
    system = System()
    slow, fast = answers(system), answers(system, refresh=INSTANT)
    for _ in range(2):
        await slow.get({"a"})
    assert len(system.asked) == 1
    for _ in range(2):
        await fast.get({"a"})
    assert len(system.asked) == 3


async def test_what_fails_is_missing_with_its_reason() -> None:
    """For every question of that go; one that was not answered is missing alone."""
    system = System()
    assert await answers(system).get({"silence", "a"}) == {
        "a": Reading(value=1.0, measured_at=NOON),
        "silence": Missing(why="there was no answer to it"),
    }
    system.fault = UnreachableError("it is down")
    assert await answers(system).get({"a"}) == {"a": Missing(why="it is down")}
    system.fault = KeyError("bug")
    assert await answers(system).get({"a"}) == {"a": Missing(why="KeyError: 'bug'")}


async def test_a_system_that_hangs_is_given_up() -> None:
    """And asked anew later on."""
    system = System()
    system.held.clear()
    kept = answers(system, refresh=INSTANT, limit=timedelta(milliseconds=1))
    assert await kept.get({"a"}) == {"a": Missing(why="there was no answer within 0.001 s")}
    system.held.set()
    assert await kept.get({"a"}) == {"a": Reading(value=1.0, measured_at=NOON)}


async def test_who_gives_up_leaves_the_answer_for_the_next() -> None:
    """A job whose time is over does not stop what was asked; its next tick finds the answer."""
    system = System()
    system.held.clear()
    kept = answers(system)
    waiting = asyncio.create_task(kept.get({"a"}))
    await system.begun.wait()
    waiting.cancel()
    system.held.set()
    assert await kept.get({"a"}) == {"a": Reading(value=1.0, measured_at=NOON)}
    assert len(system.asked) == 1
    await kept.close()
