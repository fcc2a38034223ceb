"""Where it is known from how much waits before a source, and how far that can be believed."""

from __future__ import annotations

from enum import IntEnum


class LagOrigin(IntEnum):
    """Where a lag is known from; the number stands in the samples log."""

    UNKNOWN = 0
    """Nobody can tell."""
    OFFSETS = 1
    """Latest offsets of what is read, as its owner tells them, minus those up to which it was read."""
    LISTING = 2
    """What lies in the source and was not read yet, from a listing of it."""
    TRIGGER = 3
    """Inferred: batches that take all there is and end before their next trigger leave nothing waiting."""
    COMMITTED = 4
    """Latest offsets minus those committed: as much waits at most, and by up to a checkpoint less."""
    CONNECTOR = 5
    """What the connector says by itself."""
    IDLENESS = 6
    """Inferred: who waits for records has read all there are."""
    DOUBTED = 7
    """What a connector says that fetches far ahead, of a source that never idles: as much waits at least."""

    @property
    def is_sure(self) -> bool:
        """Whether it can be told from it that nothing more waits: otherwise the job does not shrink."""
        return self not in {LagOrigin.UNKNOWN, LagOrigin.DOUBTED}

    @property
    def of_owner(self) -> bool:
        """Whether the owner of what is read tells it: two lags of which one is not the owner's cannot be compared."""
        return self in {LagOrigin.OFFSETS, LagOrigin.COMMITTED, LagOrigin.LISTING}


class Outage(IntEnum):
    """By what it is told that a source cannot reach what it reads; the number stands in the samples log."""

    UNANSWERED = 1
    """It reads nothing, and the brokers do not answer us either."""
    DISCONNECTED = 2
    """It reads nothing, and has no connection."""
    CHECKPOINT = 3
    """It reads nothing, and the checkpoints that are due do not complete."""
