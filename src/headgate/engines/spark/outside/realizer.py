"""Changes applications from outside, by their workers."""

from __future__ import annotations


class SparkScalingRealizer:
    """A `ports.ScalingRealizer` whose lever are workers."""
