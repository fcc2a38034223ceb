"""The built-in scaling policies keep their contract."""

from __future__ import annotations

import pytest

from headgate.plugins.scaling import Bounds, Proportional, Uniform
from headgate.testing.conformance.scaling_policy import ScalingPolicySuite


class TestUniform(ScalingPolicySuite):
    """The policy unless told otherwise."""

    @pytest.fixture
    def policy(self) -> Uniform:
        """Give the policy."""
        return Uniform({})


class TestProportional(ScalingPolicySuite):
    """The user's own proportions."""

    @pytest.fixture
    def policy(self) -> Proportional:
        """Give the policy."""
        return Proportional({})


class TestBounds(ScalingPolicySuite):
    """Up to a target."""

    @pytest.fixture
    def policy(self) -> Bounds:
        """Give one with a target."""
        return Bounds({"target": "5"})
