"""
Which numbers the leases of a set of clusters have in a store: sets that have no cluster in common never meet.

All numbers fit into 32 bits. Those of jobs' shards are 0 and more, those of seats, by which processes are seen, below.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

_SHARDS, _SEATS = 4096, 256
"""How many numbers there are for the shards of one set, and for the seats at one table."""
_SHARD_PLACES, _TABLES = 2**31 // _SHARDS, 2**31 // _SEATS
_ANYWHERE = (range(_SHARDS), range(-1, -1 - _SEATS, -1))
"""Shards and seats of the set that stands for all clusters."""


class Territory:
    """
    The numbers of one set of clusters.

    Attributes:
        shards: of the shards.
        table: the seats of processes that look after exactly this set: they divide its jobs.
        claims: the seats at each cluster: a process that sits there and not at the table has another set with it.
    """

    def __init__(self, clusters: Collection[str] = (), whole: Collection[str] = ()) -> None:
        """
        Number a set; an empty one stands for whatever clusters there are, as every Headgate meant them once.

        Which of them are not divided belongs to the set, for that puts jobs into other shards.
        """
        names = sorted(set(clusters))
        marked = [*names, *(f"{name}/" for name in sorted(set(whole)))]  # no cluster's name has a slash
        self.shards, self.table = (_shards(*marked), _seats("set", *marked)) if names else _ANYWHERE
        self.claims: Sequence[range] = tuple(_seats("cluster", name) for name in names)

    def has(self, number: int) -> bool:
        """Tell whether a lease is one of those that divide the jobs of this very set."""
        return number in self.shards or number in self.table

    def meets(self, number: int) -> bool:
        """Tell whether the holder of a lease looks after one of these clusters, under this set or another one."""
        if (self.shards, self.table) == _ANYWHERE:
            return True
        return any(number in numbers for numbers in (self.shards, self.table, *self.claims, *_ANYWHERE))


def _shards(*names: str) -> range:
    first = _SHARDS * (_hash("shards", *names) % (_SHARD_PLACES - 1) + 1)
    return range(first, first + _SHARDS)


def _seats(*names: str) -> range:
    first = -1 - _SEATS * (_hash(*names) % (_TABLES - 1) + 1)
    return range(first, first - _SEATS, -1)


def _hash(*names: str) -> int:
    # The names' lengths go in: no two sets are written alike.
    text = "".join(f"{len(name)}:{name}" for name in names)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
