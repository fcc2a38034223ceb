"""What this process has asked of the operator, and whether it was taken as it was meant."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from headgate.engines.kubernetes.resources import FlinkResource

_PATIENCE_S = 120.0
"""The operator may look again only after half a minute, and says that all is well meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    generation: int
    """That the change has made."""
    job_id: str
    in_place: bool
    at_s: float


class Requests:
    """The latest request for each resource; it ends with the process, which costs no more than a second request."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Know of none; `clock` gives seconds."""
        self._clock = clock
        self._latest: dict[str, _Request] = {}
        self._mishaps: dict[str, int] = {}

    def note(self, changed: FlinkResource, *, in_place: bool) -> None:
        """Remember a resource as it was after our change, and whether the job was meant to run on."""
        self._latest[changed.path] = _Request(
            generation=changed.generation, job_id=changed.job_id, in_place=in_place, at_s=self._clock()
        )

    def is_young(self, resource: FlinkResource) -> bool:
        """Tell whether the latest change is ours, and so new that the operator may not have got to it."""
        request = self._of(resource)
        return request is not None and self._clock() - request.at_s < _PATIENCE_S

    def look(self, resource: FlinkResource) -> None:
        """
        Notice that the operator redeploys, or has redeployed, a job that should have been rescaled in place.

        Later it may do so for reasons of its own.
        """
        request = self._of(resource)
        if request is None or not request.in_place or not self.is_young(resource):
            return
        has_another_id = "" not in {resource.job_id, request.job_id} and resource.job_id != request.job_id
        if resource.is_redeploying or has_another_id:
            self._mishaps[resource.path] = resource.generation

    def mishap(self, resource: FlinkResource) -> str:
        """Say that the latest change was taken otherwise than it was meant; empty when it was not."""
        if self._mishaps.get(resource.path) != resource.generation:
            return ""
        return (
            "the operator has redeployed the job where it should have rescaled it in place: nothing more is asked "
            "of it until somebody changes the resource. Hint: its events tell why"
        )

    def _of(self, resource: FlinkResource) -> _Request | None:
        request = self._latest.get(resource.path)
        return request if request is not None and request.generation == resource.generation else None
