"""A budget of bytes that pools are paid from, one after the other."""

from __future__ import annotations


class Budget:
    """
    What is left of a total; never negative, so whatever is taken never adds up to more than the total.

    Attributes:
        left: bytes not taken yet.
    """

    def __init__(self, total: int) -> None:
        """Begin with all of the total."""
        self.left = total

    def take(self, wish: int) -> int:
        """Take as much of the wish as is left, and give what was taken; a negative wish takes nothing."""
        taken = max(0, min(wish, self.left))
        self.left -= taken
        return taken
