"""The load of the comparison on Spark can be inverted, and its source is told the same one."""

from __future__ import annotations

import pytest
from benchmarks.spark_load import Load

from headgate.engines.spark.source.profile import parse_profile

SEEDS = (1, 2, 3)


@pytest.mark.parametrize("at_s", [-59.5, -0.1, 0, 100.25, 1199.5, 1230])
def test_when_a_row_came_is_the_inverse_of_what_came(at_s: float) -> None:
    """Before the comparison, within it, and after its last second, whose rate goes on."""
    load = Load(seed=3)
    assert load.arrival_s(load.offered(at_s)) == pytest.approx(at_s)


def test_the_source_is_told_the_same_load() -> None:
    """Its own integral, counted from when the lead begins, gives the same rows."""
    load = Load(seed=2)
    told = parse_profile(load.profile())
    for at_s in (-30, 0, 333.3, 1199):
        assert told.rows_until(at_s + load.lead_s) == pytest.approx(load.offered(at_s))
