"""
The 36 cells: six Nexmark queries, each from six initial parallelisms.

Published are the optima, the shape of one curve and how many steps DS2 took, but neither the queries' own curves nor
their target rates. A `Setting` makes them of the shape; the one that is used is found by DS2 alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from benchmarks.ds2.outcome import Cells, Outcome
from benchmarks.ds2.published import INITIAL, MAPPER, OPTIMA, STEPS
from benchmarks.ds2.service import Operator, between, hindered, stretched, through
from benchmarks.ds2.trial import DS2, drive
from headgate.options.autoscaler import AutoscalerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How the shape becomes six queries."""

    optimum_at: int | None
    """Where on the mapper's curve each query has its optimum; None: where it is, at its own parallelism."""
    place: float
    """Where the target lies between what one instance too few and the optimum sustain, above 0, at most 1."""
    by_busy: float
    """See `service.hindered`; at 0 the published shape is what is measured at any parallelism."""


AS_IT_STANDS = Setting(optimum_at=None, place=0.5, by_busy=0.0)
"""The curve itself, the target half-way: nothing is chosen."""

GRID = tuple(
    Setting(optimum_at=optimum_at, place=place, by_busy=eighths / 8)
    for optimum_at, place, eighths in product(
        (None, 10, 12, 14, 16, 18, 20, 24, 28), (0.1, 0.25, 0.5, 0.75, 0.9, 1.0), range(9)
    )
)

REPRODUCING = Setting(optimum_at=16, place=0.75, by_busy=0.875)
"""Of the two settings in the grid that give the published counts, the one at the median of the optima."""


def queries(setting: Setting) -> Iterator[tuple[int, Operator]]:
    """Yield the main operator of each query with its optimum."""
    mapper = through(MAPPER)
    for optimum in OPTIMA.values():
        curve = stretched(mapper, optimum / setting.optimum_at) if setting.optimum_at else mapper
        yield optimum, hindered(curve, between(curve, optimum, setting.place), setting.by_busy)


def run(setting: Setting, options: AutoscalerOptions) -> Cells:
    """Let every query find its rest from every initial parallelism, in the order of the queries."""
    return Cells(
        outcomes=[
            Outcome(path=_path(operator, initial, options), optimum=optimum)
            for optimum, operator in queries(setting)
            for initial in INITIAL
        ]
    )


def reproduces(setting: Setting) -> bool:
    """Tell whether DS2 takes the published steps, and rests at the optimum."""
    found = run(setting, DS2)
    return found.steps == STEPS and set(found.ends) == {0}


def _path(operator: Operator, initial: int, options: AutoscalerOptions) -> tuple[int, ...]:
    return tuple(main for (main,) in drive({"main": operator}, {"main": initial}, options))
