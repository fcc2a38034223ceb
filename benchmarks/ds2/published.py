"""What was published: numbers only."""

from __future__ import annotations

from collections.abc import Mapping

MAPPER: Mapping[int, float] = {
    1: 529_573,
    2: 966_817,
    4: 1_829_696,
    6: 2_535_503,
    8: 3_118_478,
    10: 3_721_099,
    14: 4_624_714,
    20: 6_350_677,
    26: 7_476_392,
}
"""Records/s of a mapper by its parallelism."""

OPTIMA: Mapping[str, int] = {"Q1": 16, "Q2": 14, "Q3": 20, "Q5": 16, "Q8": 10, "Q11": 28}
"""Optimal parallelism of the main operator of each Nexmark query."""

INITIAL = (8, 12, 16, 20, 24, 28)
"""Parallelisms that each query was started from."""

STEPS: Mapping[int, int] = {1: 19, 2: 14, 3: 3}
"""How many of the 36 cells took DS2 so many steps."""
