"""What is varied in a series of rescales, and one rescale of it before it is made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a job comes to another parallelism."""

    IN_PLACE = "in-place"
    """The adaptive scheduler restarts it from its next checkpoint."""
    REDEPLOY = "redeploy"
    """It is stopped with a savepoint, and a successor is started from that."""


class Backend(StrEnum):
    """Where a job keeps its state; the values are those of `state.backend.type`."""

    HASHMAP = "hashmap"
    ROCKSDB = "rocksdb"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Move:
    """A change of the parallelism of every vertex."""

    before: int
    after: int
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """One combination of all that is varied."""

    state_mb: int
    """Size of the keyed state, in 10**6 bytes."""
    backend: Backend
    move: Move


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rescales of one job, one after the other: its state is built up once for all of them."""

    number: int
    """From 0, in the order of the series."""
    round: str
    """What it repeats and for which time, `corners 2` for example."""
    state_mb: int
    backend: Backend
    first_run: int
    """Number of its first rescale, counted over the series."""
    moves: tuple[Move, ...]
    """Each begins where the one before it ended."""

    def cell(self, run: int) -> Cell:
        """Return what the rescale of this number is, counted over the series."""
        return Cell(state_mb=self.state_mb, backend=self.backend, move=self.moves[run - self.first_run])
