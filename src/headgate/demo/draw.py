"""
Draws the demo's workload from a seed: stages, loads and a wrong start, with one clear right answer for each phase.

It knows arithmetic alone and nothing of Headgate's code, so that the judge can rely on it.
"""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headgate.demo.loadjob import LoadJobSpec, Stage, StepProfile

UTILIZATION_TARGET = 0.7
UTILIZATION_MIN = 0.62
UTILIZATION_MAX = 0.78
"""What the demo tells Headgate to aim at: the share of time that a stage should be busy, and the band around it."""

MAX_PARALLELISM = 5
"""Above it, the answers of two neighbouring loads lie closer together than a measurement can tell."""

MAX_RECORDS_PER_S = 2500.0
"""Over all stages; more would load the machine's own cores and change the stages' costs."""

MARGIN = 0.25
"""How far a need stays from the whole numbers on both sides, in subtasks."""

CLEARLY = 0.02
"""How far outside the band a stage is whenever it has the wrong parallelism, in busy share."""

URGENT = 1.1
"""Share of its time that a bottleneck that starts too small would have to be busy, at least."""

CLEAR_MOVE = 2
"""By how many subtasks the bottleneck's answer changes, at least, when the load steps."""

_NAMES = ("parse", "enrich", "count")
_SELECTIVITIES = (0.5, 0.75, 1.0, 1.25, 1.5)
_KEYED_SHARE = 0.6
_STARTS = (1, 3, 4, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A time of steady load."""

    title: str
    rate_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A drawn workload; the same seed gives the same one."""

    seed: int
    stages: tuple[Stage, ...]
    phases: tuple[Phase, ...]
    start: int
    """Parallelism of every operator when the job is submitted: a wrong one."""

    def spec(self, *, epoch: datetime, phase_length: timedelta) -> LoadJobSpec:
        """Return the job that runs this workload, its first phase beginning at `epoch`."""
        steps = tuple((number * phase_length, phase.rate_per_s) for number, phase in enumerate(self.phases))
        return LoadJobSpec(stages=self.stages, profile=StepProfile(steps=steps), epoch=epoch, keys=10_000, name="demo")

    def received(self, phase: Phase) -> Mapping[str, float]:
        """Return the records per second that come to each stage."""
        rates = itertools.accumulate(
            (stage.selectivity for stage in self.stages), operator.mul, initial=phase.rate_per_s
        )
        return dict(zip((stage.name for stage in self.stages), rates, strict=False))

    def needs(self, phase: Phase) -> Mapping[str, float]:
        """Return the subtasks that each stage needs to be busy for the target share of the time, not rounded."""
        rates = self.received(phase)
        return {stage.name: rates[stage.name] * stage.cost_us / 1e6 / UTILIZATION_TARGET for stage in self.stages}

    def optimum(self, phase: Phase) -> Mapping[str, int]:
        """Return the parallelism that each vertex of the job needs in a phase, by arithmetic alone (DS2's formula)."""
        spec = self.spec(epoch=datetime.fromtimestamp(0, UTC), phase_length=timedelta(minutes=1))
        return spec.analytic_parallelism(phase.rate_per_s, UTILIZATION_TARGET)

    @property
    def introduction(self) -> str:
        """What happens, for somebody who has never heard of Headgate."""
        return (
            "The work for this real Flink job goes up and down. Headgate, a separate program that was told the "
            "cluster's address and nothing else, gives each step of the job as many workers (its parallelism) as the "
            "work needs. "
        )

    @property
    def workers(self) -> str:
        """What the chart of the bottleneck's parallelism is called."""
        return f"Workers of '{self.bottleneck}', the busiest step"

    @property
    def bottleneck(self) -> str:
        """The stage that needs most when the load is highest."""
        needs = self.needs(max(self.phases, key=lambda phase: phase.rate_per_s))
        return max(needs, key=needs.__getitem__)


def draw(seed: int) -> Draw:
    """Return the seed's workload: candidates are drawn until one has a clear answer in each phase."""
    chance = random.Random(seed)  # noqa: S311 (a draw that can be repeated, not a secret)
    while not is_clear(candidate := _candidate(seed, chance)):
        pass
    return candidate


def is_clear(workload: Draw) -> bool:
    """Tell whether each phase has one right answer, and the bottleneck has to move clearly to reach it."""
    needs = [workload.needs(phase) for phase in workload.phases]
    wanted = [each[workload.bottleneck] for each in needs]
    running = [workload.start, *map(math.ceil, wanted)]
    return (
        _is_clearly_wrong(workload.start, wanted[0])
        and all(abs(before - after) >= CLEAR_MOVE for before, after in itertools.pairwise(running[1:]))
        and all(_is_outside_band(need, before) for need, before in zip(wanted, running, strict=False))
        and all(_is_unambiguous(need) for each in needs for need in each.values())
        and all(_records_per_s(workload, phase) <= MAX_RECORDS_PER_S for phase in workload.phases)
    )


def _is_clearly_wrong(start: int, need: float) -> bool:
    """Tell whether a parallelism is too large, or so small that the job falls behind, not just short of a reserve."""
    return start > math.ceil(need) or UTILIZATION_TARGET * need / start >= URGENT


def _is_unambiguous(need: float) -> bool:
    """
    Tell whether a need has one answer, and one subtask less would leave the stage outside its band.

    Without the second, a stage one short of its need could be left alone: 4.3 are needed, 4 run 75 % busy.
    """
    answer = math.ceil(need)
    return (
        answer <= MAX_PARALLELISM
        and MARGIN <= answer - need <= 1 - MARGIN
        and (answer == 1 or _is_outside_band(need, answer - 1))
    )


def _is_outside_band(need: float, running: int) -> bool:
    busy = UTILIZATION_TARGET * need / running
    return not UTILIZATION_MIN - CLEARLY < busy < UTILIZATION_MAX + CLEARLY


def _records_per_s(workload: Draw, phase: Phase) -> float:
    return sum(workload.received(phase).values())


def _candidate(seed: int, chance: random.Random) -> Draw:
    high = float(chance.randrange(400, 701, 10))
    low, low_again = (round(high * chance.uniform(0.2, 0.55), -1) for _ in range(2))
    rates = {"low load": low, "high load": high, "low load again": low_again}
    return Draw(
        seed=seed,
        stages=tuple(_stages(_NAMES[: chance.choice((2, 3))], high, chance)),
        phases=tuple(Phase(title=title, rate_per_s=rate) for title, rate in rates.items()),
        start=chance.choice(_STARTS),
    )


def _stages(names: Sequence[str], rate: float, chance: random.Random) -> Iterator[Stage]:
    """Draw stages by what they need under the high load, and by that their costs."""
    for name in names:
        need = chance.randint(1, MAX_PARALLELISM) - chance.uniform(MARGIN, 1 - MARGIN)
        stage = Stage(
            name=name,
            cost_us=round(need * UTILIZATION_TARGET / rate * 1e6, -1),
            selectivity=chance.choice(_SELECTIVITIES),
            keyed=name != _NAMES[0] and chance.random() < _KEYED_SHARE,
        )
        rate *= stage.selectivity
        yield stage
