"""A budget pays what it can."""

from __future__ import annotations

from headgate.algorithm.memory.budget import Budget


def test_a_wish_is_met_as_far_as_the_budget_goes() -> None:
    """The last wish gets the rest, later ones nothing, and the sum is the total."""
    budget = Budget(10)

    assert [budget.take(4), budget.take(9), budget.take(1)] == [4, 6, 0]
    assert budget.left == 0


def test_a_negative_wish_pays_nothing_back() -> None:
    """A budget never grows."""
    budget = Budget(10)

    assert budget.take(-5) == 0
    assert budget.left == 10
