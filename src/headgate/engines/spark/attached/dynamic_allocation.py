"""
Executors where `spark.dynamicAllocation.enabled` holds them.

Left alone it grows to its maximum and stays there. It reads its bounds once, so both are set from here to the number
that is wanted; and its target with them, which it would never lower while there are more tasks than executors.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from headgate.engines.spark.attached.backend import Backend, SchedulerBackend, translated
from headgate.errors import RefusedError, UnsupportedError

MIN, MAX = "spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.maxExecutors"
UNLIMITED = 2**31 - 1
DEFAULT_PROFILE = 0
"""Spark's id of the resources of executors that nobody asked anything special of."""


def is_on(backend: Backend) -> bool:
    """Tell whether dynamic allocation holds the executors."""
    return backend.setting("spark.dynamicAllocation.enabled", "false") == "true"


class SteeredBackend(SchedulerBackend):
    """The scheduler backend under dynamic allocation, within the bounds that the application was started with."""

    def __init__(self, session: SparkSession) -> None:
        """
        Find what is steered.

        Raises:
            UnsupportedError: this version of Spark keeps it elsewhere.
        """
        super().__init__(session)
        try:
            with translated():
                self._allocation = self._context.executorAllocationManager().get()
                self._lower, self._upper = (self._field(name) for name in ("minNumExecutors", "maxNumExecutors"))
        except Exception as error:
            message = (
                "spark.dynamicAllocation.enabled holds the executors, and this Spark does not let it be steered. "
                "Hint: set it to false, Headgate does what it would do"
            )
            raise UnsupportedError(message) from error

    def request_total(self, count: int) -> None:
        """
        Let dynamic allocation want this number, neither more nor fewer.

        Raises:
            RefusedError: it lies outside of its bounds.
        """
        low, high = self._bounds()
        if not low <= count <= high:
            message = f"{count} executors are outside of {MIN}={low} and {MAX}={high}. Hint: start with other bounds"
            raise RefusedError(message)
        with translated():
            self._set(count, count)
            self._allocation.numExecutorsTargetPerResourceProfileId().put(DEFAULT_PROFILE, count)
        super().request_total(count)

    def release(self) -> None:
        """Let dynamic allocation decide again, within the bounds that it was started with."""
        with translated():
            self._set(*self._bounds())

    def _bounds(self) -> tuple[int, int]:
        """Give them as configured: the fields may hold what an earlier agent of this application has set."""
        return int(self.setting(MIN, "0")), int(self.setting(MAX, str(UNLIMITED)))

    def _set(self, low: int, high: int) -> None:
        self._lower.setInt(self._allocation, low)
        self._upper.setInt(self._allocation, high)

    def _field(self, name: str) -> Any:
        field = self._allocation.getClass().getDeclaredField(name)
        field.setAccessible(True)
        return field
