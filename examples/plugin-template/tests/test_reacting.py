"""The scaling policy keeps Headgate's contract, and does what it is for."""

from __future__ import annotations

import pytest
from headgate.testing.conformance.scaling_policy import ScalingPolicySuite, questions

from headgate_mill.licences import Licensed


class TestLicensed(ScalingPolicySuite):
    """The contract."""

    @pytest.fixture
    def policy(self) -> Licensed:
        """Give one with licences for four subtasks of each of three vertices."""
        return Licensed({"licences": "12"})

    def test_licences_are_never_exceeded(self, policy: Licensed) -> None:
        """However many slots there are."""
        assert max(sum(policy.decide(*question).values()) for question in questions()) == 12


def test_a_policy_without_licences_is_refused() -> None:
    """Before anything is scaled."""
    with pytest.raises(ValueError, match="invalid literal"):
        Licensed({})
