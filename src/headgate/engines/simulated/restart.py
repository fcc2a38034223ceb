"""What is remembered of a simulated job's restarts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """Why a job restarted."""

    RESCALE = "rescale"
    FAILURE = "failure"
    SLOTS = "slots"
    """Slots were lost, or came back."""
    MEMORY = "memory"
    """The TaskManagers were given other memory."""
    DEPLOYMENT = "deployment"
    """The job's user submitted it anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """One restart of a job."""

    cause: Cause
    began_s: float
    ended_s: float
    before: Mapping[str, int]
    after: Mapping[str, int]

    @property
    def changes(self) -> Mapping[str, tuple[int, int]]:
        """The vertices whose parallelism is another one, before and after; one that is gone or new is none of them."""
        moved = {name: (old, self.after.get(name, old)) for name, old in self.before.items()}
        return {name: (old, new) for name, (old, new) in moved.items() if new != old}
