"""What all signal sources of Headgate share: from a job's signals to questions, and from answers to signals."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from headgate.model.samples import Signal
from headgate.options.signals import SignalOptions, SignalSourceOptions
from headgate.ports import JobContext, Missing
from headgate.signals.answers import Answer, Answers, Reading
from headgate.signals.placeholders import PlaceholderError

Question = TypeVar("Question", bound=Hashable)
Clock = Callable[[], datetime]


def now_utc() -> datetime:
    """Give the present by the system's clock."""
    return datetime.now(UTC)


class DeclaredSource(ABC, Generic[Question]):
    """
    A `ports.SignalSource` over the signals that the operator declared for one system.

    A subclass says what is asked for a signal of a job, and asks many such questions at once. Equal questions are one:
    a value that does not depend on the job is read once for all of them.
    """

    def __init__(
        self, options: SignalSourceOptions, declared: Sequence[SignalOptions], *, clock: Clock = now_utc
    ) -> None:
        """
        Open nothing yet.

        Args:
            options: the system.
            declared: the signals that are read from it, unless a job's options declare them anew.
            clock: tells when something was true where the system does not.
        """
        self.options = options
        self.name = options.name
        self._declared = {signal.name: signal for signal in declared}
        self._clock = clock
        self._answers: Answers[Question] = Answers(self._ask, refresh=options.refresh, limit=self._limit)

    async def query(self, ctx: JobContext, signals: Sequence[str], /) -> Mapping[str, Signal | Missing]:
        """Read these signals for a job; the contract is the port's."""
        asked: dict[str, Question] = {}
        found: dict[str, Signal | Missing] = {}
        for name in signals:
            try:
                asked[name] = self._question(self._signal(name, ctx), ctx)
            except KeyError:
                found[name] = Missing(why=f"no signal of that name is declared for source {self.name}")
            except PlaceholderError as error:
                found[name] = Missing(why=str(error))
        answers = await self._answers.get(set(asked.values()))
        return found | {name: _signal(answers[question]) for name, question in asked.items()}

    async def close(self) -> None:
        """Let go of connections, for good where they are those of HTTP."""
        await self._answers.close()

    def _signal(self, name: str, ctx: JobContext) -> SignalOptions:
        """Give the declaration as it holds for the job now: options change while a source lives."""
        own = (each for each in ctx.options.signals_in_force if each.name == name and each.source == self.name)
        return next(own, None) or self._declared[name]

    def _limit(self, questions: int) -> timedelta:
        """Bound what asking takes, should every question need a call of its own and each its whole time."""
        return (2 + questions / self.options.max_calls_in_flight) * self.options.timeout

    @abstractmethod
    def _question(self, signal: SignalOptions, ctx: JobContext) -> Question:
        """
        Say what is asked for a signal of a job.

        Raises:
            PlaceholderError: it cannot be said for this job.
        """

    @abstractmethod
    async def _ask(self, questions: Sequence[Question]) -> Mapping[Question, Answer]:
        """
        Ask several questions, in as few calls as possible; each call keeps to the time limit.

        Raises:
            HeadgateError: none can be answered.
        """


def reading(value: Any, measured_at: datetime, what: str) -> Answer:
    """Take a value for a number, as a number or as its text; one that is none, or not finite, is missing."""
    try:
        number = float("true" if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        return Missing(why=f"{what} is no number but {_shown(value)}")
    if not math.isfinite(number):
        return Missing(why=f"{what} is {number}")
    return Reading(value=number, measured_at=measured_at)


_LONGEST = 60


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _signal(answer: Answer) -> Signal | Missing:
    if isinstance(answer, Missing):
        return answer
    # Whole milliseconds, as the log keeps them: what is replayed decides by the same age.
    at = answer.measured_at.astimezone(UTC)
    return Signal(value=answer.value, measured_at=at.replace(microsecond=at.microsecond // 1000 * 1000))
