"""How often it is looked whether reactive jobs are fit."""

from __future__ import annotations

from dataclasses import replace

from headgate.algorithm.suitability import Facts
from headgate.control.reactive.fitness import Fitness
from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.ports import JobContext
from headgate.testing.builders import at, chain, context, sample
from headgate.testing.reacting import reactive

NO_ANSWER = UnreachableError("no answer")
JOB = replace(context(options=reactive()), job_id="j1")


class Finder:
    """Notes who was looked at; what it finds may be a failure."""

    def __init__(self, *found: Facts | None) -> None:
        """Find one after the other, the last one again and again."""
        self.left = list(found)
        self.asked: list[str] = []

    async def __call__(self, ctx: JobContext) -> Facts:
        """Look."""
        self.asked.append(ctx.job_id)
        found = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if found is None:
            raise NO_ANSWER
        return found


async def looked(fitness: Fitness, ctx: JobContext, *seconds: float) -> list[bool]:
    """Tell for each of these seconds whether the job was fit."""
    taken = sample(chain({"source": 1}), job=ctx.key, job_id=ctx.job_id)
    return [not await fitness.why_not(ctx, taken, jobs=1, now=at(second)) for second in seconds]


async def test_what_was_found_is_believed_for_a_while() -> None:
    """It costs calls, and changes rarely."""
    finder = Finder(Facts(streaming=False))
    assert await looked(Fitness(find=finder), JOB, 0, 300, 599, 600) == [False] * 4
    assert finder.asked == ["j1"] * 2


async def test_a_look_that_failed_is_not_repeated_at_once() -> None:
    """It may have taken all the time that it may, and each cycle would wait for it."""
    finder = Finder(None, Facts(streaming=False))
    assert await looked(Fitness(find=finder), JOB, 0, 10, 59, 60) == [True, True, True, False]
    assert finder.asked == ["j1"] * 2


async def test_a_failure_does_not_undo_what_was_found() -> None:
    """What is known of this very job still holds; of the next one of that name nothing is known."""
    fitness = Fitness(find=Finder(Facts(streaming=False), None))
    assert await looked(fitness, JOB, 0, 600, 610) == [False] * 3
    assert await looked(fitness, replace(JOB, job_id="j2"), 620) == [True]


async def test_jobs_that_are_gone_are_forgotten() -> None:
    """However many came and went."""
    fitness = Fitness(find=Finder(Facts()))
    for number in range(50):
        await looked(fitness, replace(JOB, key=JobKey("prod", f"j{number}")), 0)
    await looked(fitness, JOB, 700, 1300)
    assert len(fitness._looks) == 1
