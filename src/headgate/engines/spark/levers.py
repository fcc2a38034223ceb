"""What changes how many executors an application has, from inside its driver or from outside."""

from __future__ import annotations

from typing import Protocol

from headgate.engines.spark.application import Executors


class ExecutorLever(Protocol):
    """Adds and removes executors of one application."""

    async def executors(self) -> Executors:
        """
        Tell which executors there are.

        Raises:
            NotFoundError: the application is gone.
            TransientError: no usable answer.
        """

    async def request(self, count: int, /) -> bool:
        """
        Ask for so many executors; idempotent, and called again in each cycle. It never waits until they are there.

        Fewer are had by graceful decommissioning: no task is lost by it.

        Returns:
            Whether something was asked for that had not been.

        Raises:
            RefusedError: so many cannot be had, or nothing can be had this way, and why.
            NotFoundError: the application is gone.
            TransientError: no usable answer; it is not known whether it was accepted.
        """
