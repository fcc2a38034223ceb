"""What a store of states must be able to do when the leases of its jobs are kept somewhere else."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol, runtime_checkable

from headgate.ports import Lease


@runtime_checkable
class Fence(Protocol):
    """
    Refuses what is saved under a lease that somebody has followed since.

    Whoever gets a lease raises the fence of its shard before acting under it; from then on no save under an earlier
    token is let through, however late it comes.
    """

    def token_of(self, shard: int, /) -> int:
        """Give the token to which a shard's fence was raised last; 0: never."""

    def raise_fence(self, lease: Lease, /) -> bool:
        """
        Let through only what is saved under this lease; false, and nothing is changed, when its token is too small.

        Raises:
            PermanentError: somebody holds a lease of the shard in the store itself.
        """

    def let_through(self, leases: Collection[Lease], /) -> frozenset[int]:
        """Give the shards of those under which can be saved."""
