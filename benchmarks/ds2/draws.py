"""
Random queries: curves and initial parallelisms that nobody chose, read with noise.

The need of a query lies where its optimum is the least parallelism that serves it. The load is that need times the
utilization target, so that all rules look for the same optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from benchmarks.ds2.outcome import Outcome
from benchmarks.ds2.service import Curve, Operator, between, power, usl
from benchmarks.ds2.trial import DS2, Noise, drive
from headgate.options.autoscaler import AutoscalerOptions

QUERIES = 200
PARALLELISM = (5, 40)
"""Of the optima and of the initial parallelisms, both ends included."""
EXPONENTS = (0.6, 1.0)
"""Of the power laws; of the others the exponent between half the optimum and the optimum."""
NOISE = 0.05
"""Standard deviation of a measured rate, as a share; normal, anew each cycle."""
SUMMIT = 60
"""Parallelism up to which the curves rise: where more is slower, no rule that grows can help."""
LATER = 20
"""Cycles for which the operator is watched from its start, when it is not left alone at its first rest."""

BANDED = replace(
    AutoscalerOptions(),
    alignment_mode="OFF",
    utilization_boundary=0.15,
    catch_up_duration=timedelta(),
    restart_time=timedelta(),
    scale_down_max_factor=1.0,
    scale_down_interval=timedelta(),
)
"""
Headgate's default utilization target (0.7) in half its default band; nothing to catch up, no limit on a step.

In the full band most draws would be left alone where they begin.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One draw."""

    curve: Curve
    need: float
    optimum: int
    initial: int
    seed: int
    """Of its noise."""

    def noise(self) -> Noise:
        """Give the errors of its cycles, the same ones for whichever rule."""
        errors = np.random.default_rng(self.seed).normal(1.0, NOISE, 100)
        return lambda cycle: float(errors[cycle])


def drawn(seed: int) -> Iterator[Query]:
    """Yield the queries of a seed: a power law and a Universal Scalability Law in turn."""
    random = np.random.default_rng(seed)
    for number in range(QUERIES):
        optimum, initial = (int(one) for one in random.integers(PARALLELISM[0], PARALLELISM[1] + 1, 2))
        exponent = float(random.uniform(*EXPONENTS))
        curve = usl_like(exponent, optimum, float(random.uniform())) if number % 2 else power(exponent)
        yield Query(
            curve=curve,
            need=between(curve, optimum, float(random.uniform(0, 1))),
            optimum=optimum,
            initial=initial,
            seed=int(random.integers(2**32)),
        )


def usl_like(exponent: float, optimum: int, coherence: float) -> Curve:
    """
    Give the USL curve that gains as much from half the optimum to the optimum as the power law with an exponent does.

    `coherence` (0 to 1): how much of the cost is coherence, as a share of the most that keeps the curve rising to
    `SUMMIT`. Where that alone costs more than the exponent allows there is no contention.
    """
    least, most = 0.0, 1.0
    for _ in range(60):
        contention = (least + most) / 2
        curve = usl(contention, coherence * (1 - contention) / SUMMIT**2)
        gained = math.log2(curve(optimum) / curve(optimum / 2))
        least, most = (contention, most) if gained > exponent else (least, contention)
    return usl(least, coherence * (1 - least) / SUMMIT**2)


def outcome(query: Query, options: AutoscalerOptions, cycles: int | None = None) -> Outcome:
    """Let a rule find its rest, or watch it for so many cycles; what it can truly do is the judge."""
    target = query.need * options.utilization_target
    job = {"main": Operator(target=target, true_rate=query.curve)}
    path = drive(job, {"main": query.initial}, options, noise=query.noise(), cycles=cycles)
    parallelisms = tuple(main for (main,) in path)
    return Outcome(path=parallelisms, optimum=query.optimum, sustains=query.curve(parallelisms[-1]) >= target)


def run(seed: int, options: AutoscalerOptions, cycles: int | None = None) -> tuple[Outcome, ...]:
    """Give the outcomes of all queries of a seed."""
    return tuple(outcome(query, options, cycles) for query in drawn(seed))


PUBLISHED = DS2
"""DS2 without any headroom and without a band, on the same needs."""
