"""What waits in front of a source, outside of the job: for any subtask, or in partitions that belong to one each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from headgate.engines.simulated.graph import SimulatedVertex

Floats = npt.NDArray[np.float64]


class SharedBacklog:
    """Records that any subtask may take."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.records = 0.0
        self._since_checkpoint = 0.0
        self.hottest = self.coldest = 0.0
        """Records that the busiest and the idlest subtask took in the last step."""
        self._parallelism = 1

    def spread(self, parallelism: int) -> None:
        """Share the records between so many subtasks."""
        self._parallelism = parallelism

    def offer(self, records: float) -> None:
        """Let records arrive."""
        self.records += records

    def readable(self, each: float) -> float:
        """Return how many can be taken when each subtask can take so many."""
        return min(self.records, each * self._parallelism)

    def take(self, records: float) -> None:
        """Take some of what is readable."""
        self.records -= records
        self._since_checkpoint += records
        self.hottest = self.coldest = records / self._parallelism

    def checkpoint(self) -> None:
        """Remember the position."""
        self._since_checkpoint = 0.0

    def rewind(self) -> None:
        """Go back to the last checkpoint."""
        self.records += self._since_checkpoint
        self._since_checkpoint = 0.0


class PartitionedBacklog:
    """Records in partitions, which the subtasks have divided among themselves in turn."""

    def __init__(self, shares: Floats) -> None:
        """Begin with nothing; each partition gets its share, 0 to 1, of what arrives."""
        self._shares = shares
        self._waiting = np.zeros(len(shares))
        self._since_checkpoint = np.zeros(len(shares))
        self._owner = np.zeros(len(shares), dtype=np.int64)
        self._parallelism = 1
        self._readable: Floats = np.zeros(1)
        self._owned: Floats = np.zeros(1)
        self.hottest = self.coldest = 0.0

    @property
    def records(self) -> float:
        """All that waits."""
        return float(self._waiting.sum())

    def spread(self, parallelism: int) -> None:
        """Divide the partitions between so many subtasks."""
        self._parallelism = parallelism
        self._owner = np.arange(len(self._shares)) % parallelism

    def offer(self, records: float) -> None:
        """Let records arrive."""
        self._waiting += records * self._shares

    def readable(self, each: float) -> float:
        """Return how many can be taken when each subtask can take so many of its own partitions."""
        owned = np.bincount(self._owner, weights=self._waiting, minlength=self._parallelism)
        self._owned = owned.astype(np.float64)
        self._readable = np.minimum(self._owned, each)
        return float(self._readable.sum())

    def take(self, records: float) -> None:
        """Take some of what was found readable just before."""
        readable = float(self._readable.sum())
        taken = self._readable * (records / readable if readable else 0.0)
        per_record = np.divide(taken, self._owned, out=np.zeros_like(taken), where=self._owned > 0)
        by_partition = self._waiting * per_record[self._owner]
        self._waiting -= by_partition
        self._since_checkpoint += by_partition
        self.hottest, self.coldest = float(taken.max()), float(taken.min())

    def checkpoint(self) -> None:
        """Remember the positions."""
        self._since_checkpoint[:] = 0.0

    def rewind(self) -> None:
        """Go back to the last checkpoint."""
        self._waiting += self._since_checkpoint
        self._since_checkpoint[:] = 0.0


Backlog = SharedBacklog | PartitionedBacklog


def backlog_of(vertex: SimulatedVertex) -> Backlog:
    """Make the backlog that a source's partitions ask for."""
    if vertex.partitions is None:
        return SharedBacklog()
    shares = np.array(vertex.partition_shares or [1.0] * vertex.partitions)
    return PartitionedBacklog(shares / shares.sum())
