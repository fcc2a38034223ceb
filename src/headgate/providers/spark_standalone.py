"""Workers of a Spark standalone cluster, processes of this machine."""

from __future__ import annotations

from collections.abc import Mapping


class SparkStandaloneProvider:
    """A `ports.ResourceProvider` of one-application standalone clusters."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """Start nothing yet."""
        raise NotImplementedError
