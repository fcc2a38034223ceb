"""A client of Kubernetes' API that calls share, and that ends when nobody wants it any more."""

from __future__ import annotations

from typing import Any


class Connection:
    """Lends its client to whoever enters it, and closes it once it is retired and the last of them has left."""

    def __init__(self, client: Any) -> None:
        """Own the client."""
        self._client = client
        self._calls = 0
        self._retired = False

    async def __aenter__(self) -> Any:
        """Give the client."""
        self._calls += 1
        return self._client

    async def __aexit__(self, *_: object) -> None:
        """Leave."""
        self._calls -= 1
        await self._end()

    async def retire(self) -> None:
        """Have it closed, now or by the last call; call this once, and enter it no more."""
        self._retired = True
        await self._end()

    async def _end(self) -> None:
        if self._retired and not self._calls:
            await self._client.close()
