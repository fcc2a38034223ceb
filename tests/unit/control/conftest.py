"""The job that the stories of this folder begin with."""

from __future__ import annotations

import pytest
from tests.unit.control.ward import Doctor

from headgate.testing.builders import ORDERS, chain, context, sample
from headgate.testing.scenario import Scenario


@pytest.fixture
def world() -> Scenario:
    """One running job, source -> agg, whose agg needs four times its capacity."""
    world = Scenario(factors={"agg": 4.0})
    world.engine.add(context(), sample(chain({"source": 1, "agg": 1}), job=ORDERS))
    return world


@pytest.fixture
def ward(world: Scenario) -> Scenario:
    """One running job, source -> agg, whose agg needs four times its capacity, and a doctor."""
    world.decider = Doctor()
    return world
