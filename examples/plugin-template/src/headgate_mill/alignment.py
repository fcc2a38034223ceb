"""Aligns parallelism to powers of two, as Mill's hash rings like it."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.topology import ShipStrategy
from headgate.ports import AlignmentQuestion


class PowerOfTwo:
    """Up to the next power of two, if the limits allow it. Implements `headgate.ports.AlignmentMode`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """Take nothing."""

    def is_applicable(self, question: AlignmentQuestion, /) -> bool:
        """Align what reads from a ring or a hashed input."""
        return bool(question.vertex.partitions) or ShipStrategy.HASH in question.inputs

    def align(self, question: AlignmentQuestion, /) -> int:
        """Give the power, or the target where the power is too large."""
        power: int = 1 << (question.target - 1).bit_length()
        return power if question.lower <= power <= question.upper else question.target
