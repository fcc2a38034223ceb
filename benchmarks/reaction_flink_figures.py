"""What was seen of a job around a step of its load, and what is read off it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

from benchmarks.reaction_flink_setting import AGG, SETTING, Sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The job at one instant; it holds until the next look."""

    at_s: float
    """Since the step; negative before it."""
    asked: Sizes
    """Upper bounds of the resource requirements."""
    ran: Sizes
    """Those that ran, or ran last."""
    runs: bool
    """Whether all of its tasks do."""
    lag: int
    """Records that wait in the source, as it last told; Flink passes that on once a second."""

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """Read what `row` wrote."""
        at_s, asked, ran, runs, lag = row
        return cls(at_s=at_s, asked=tuple(asked), ran=tuple(ran), runs=bool(runs), lag=lag)

    @property
    def row(self) -> list[Any]:
        """Give it as it is kept."""
        return [self.at_s, list(self.asked), list(self.ran), int(self.runs), self.lag]

    @property
    def granted(self) -> bool:
        """Tell whether what was asked for runs."""
        return self.runs and self.asked == self.ran

    def differs(self, other: Look) -> bool:
        """Tell whether anything but the time is another one."""
        return self.row[1:] != other.row[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of the load, and all that was seen from before it until it was answered, or given up."""

    per_s: float
    """The load from then on."""
    looks: Sequence[Look]
    phase_s: float = 0.0
    """How much later than it could it came."""

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """Read what `told` wrote."""
        looks = [Look.of(row) for row in told["looks"]]
        return cls(per_s=told["per_s"], phase_s=told["phase_s"], looks=looks)

    @property
    def told(self) -> dict[str, Any]:
        """Give it as it is kept."""
        return {"per_s": self.per_s, "phase_s": self.phase_s, "looks": [look.row for look in self.looks]}

    @property
    def wanted(self) -> int:
        """Give the parallelism of the aggregation that the load needs."""
        return SETTING.sizes(self.per_s)[AGG]

    @property
    def lag_bound(self) -> float:
        """Give the records from which a backlog waits."""
        return SETTING.lag_s * self.per_s


def ask_s(step: Step) -> float | None:
    """Give when something else was first asked for than before the step; None where that never happened."""
    before = step.looks[0].asked
    return next((look.at_s for look in step.looks if look.at_s >= 0 and look.asked != before), None)


def optimum_s(step: Step) -> float | None:
    """Give since when the right parallelism ran, to stay; None where it does not in the end."""
    begun: float | None = None
    for look in step.looks:
        right = look.runs and look.ran[AGG] == step.wanted
        begun = (look.at_s if begun is None else begun) if right else None
    return begun


def drained_s(step: Step) -> float | None:
    """Give when the last backlog was gone: 0 where there was none, None where one is there in the end."""
    gone: float | None = 0.0
    for look in step.looks:
        if look.lag > step.lag_bound:
            gone = None
        elif gone is None:
            gone = look.at_s
    return gone


def granting_s(step: Step) -> float:
    """Give for how long, until the right parallelism ran, something was asked for that did not run yet."""
    end = optimum_s(step)
    ends = [after.at_s for _, after in pairwise(step.looks)]
    return sum(
        after_s - look.at_s
        for look, after_s in zip(step.looks, ends, strict=False)
        if look.at_s >= 0 and not look.granted and (end is None or after_s <= end)
    )


def rescales(step: Step) -> float:
    """Count the changes of what runs, of any vertex."""
    seen = [look.ran for look in step.looks if look.runs]
    return float(sum(before != after for before, after in pairwise(seen)))


def most_lag(step: Step) -> float:
    """Give the most records that waited since the step."""
    return float(max((look.lag for look in step.looks if look.at_s >= 0), default=0))


def answered(step: Step, *, hold_s: float) -> bool:
    """Tell whether the right parallelism has run for so long, without a backlog for as long."""
    optimum, drained, last = optimum_s(step), drained_s(step), step.looks[-1]
    return optimum is not None and drained is not None and last.at_s - max(optimum, drained, 0.0) >= hold_s
