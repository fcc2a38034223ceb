"""Which workers must end and which must start, for those that live to be those that are wanted. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count, islice

from headgate.providers.folder import Plan, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Staffing:
    """What is to be done."""

    ending: tuple[Worker, ...]
    starting: tuple[int, ...]
    """Numbers that no living worker has, not even one that is ending."""


def staying(living: Iterable[Worker]) -> tuple[Worker, ...]:
    """Give the workers that were not asked to end."""
    return tuple(worker for worker in living if worker.ending_since is None)


def staff(living: Iterable[Worker], plan: Plan) -> Staffing:
    """
    Keep workers that were started with the plan's settings, those of the lowest numbers, and replace the others.

    Args:
        living: by number.
        plan: where it wants no number, there are as many as before.
    """
    alive = tuple(living)
    present = staying(alive)
    wanted = len(present) if plan.wanted is None else plan.wanted
    fitting = [worker for worker in present if worker.settings == plan.settings][:wanted]
    taken = {worker.number for worker in alive}
    free = (number for number in count(1) if number not in taken)
    return Staffing(
        ending=tuple(worker for worker in present if worker not in fitting),
        starting=tuple(islice(free, wanted - len(fitting))),
    )
