"""Who a job is. A job is keyed by cluster and name, so that a resubmitted job keeps its history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType, Self

VertexId = NewType("VertexId", str)
"""A job vertex's id: 32 hex digits in Flink, stable across submits when operators have uids."""


@dataclass(frozen=True, slots=True, order=True)
class JobKey:
    """A job across its restarts and resubmissions: the cluster's configured name and the job's name."""

    cluster: str
    name: str

    def __str__(self) -> str:
        """Give the text form `cluster/name`, also the key in every table and store."""
        return f"{self.cluster}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        Read the text form; a cluster's name holds no slash, a job's name may.

        Raises:
            ValueError: there is no slash.
        """
        cluster, slash, name = text.partition("/")
        if not slash:
            message = f"job key {text!r} has no slash. Hint: write cluster/job-name"
            raise ValueError(message)
        return cls(cluster, name)
