"""Forbids rescales on days on which nobody is there to look."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.decision import Decision
from headgate.ports import Change, JobContext

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class ChangeFreeze:
    """No rescale on some days of the week, by UTC. Implements `headgate.ports.DecisionPlugin`."""

    priority = 0

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """
        Take `days`, their first three letters with commas between.

        Raises:
            ValueError: one of them is no day.
        """
        days = [day.strip() for day in parameters.get("days", "Sat,Sun").split(",")]
        if unknown := sorted({*days} - {*DAYS}):
            message = f"parameter days: {', '.join(unknown)} is no day. Hint: write {','.join(DAYS)}"
            raise ValueError(message)
        self._days = frozenset(days)

    def decide(self, ctx: JobContext, decision: Decision, change: Change, /) -> Change | None:
        """Let the change pass on all other days."""
        return None if DAYS[decision.at.weekday()] in self._days else change
