"""The few calls of Kubernetes' API that counting and setting replicas takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from headgate.errors import HeadgateError, NotFoundError
from headgate.kube.api import Answered, KubernetesApi
from headgate.kube.login import Login

_ABSENT = "replicas field"
"""Of what is said of a resource that has a scale and no number in it yet, as an internal error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is scaled: one resource that has a scale subresource."""

    group: str
    version: str
    plural: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Name it as `kubectl` does."""
        return f"{self.plural}.{self.group}/{self.name} in namespace {self.namespace}"

    @property
    def scale(self) -> str:
        """Where its scale is."""
        place = f"/apis/{self.group}/{self.version}/namespaces/{self.namespace}"
        return f"{place}/{self.plural}/{self.name}/scale"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a scale subresource tells."""

    wanted: int | None
    """None: nobody has set it yet."""
    present: int = 0
    """Replicas that the controller has seen, ready or not."""
    selector: str = ""
    """Of their pods; empty where the resource does not tell."""


class ScaleApi:
    """Reads and writes one scale; connects at the first call, and anew after one that was not let in."""

    def __init__(self, target: Target, login: Login) -> None:
        """Connect to nothing yet."""
        self._target = target
        self._api = KubernetesApi(login, subject=str(target))

    async def read(self) -> Scale:
        """
        Give the scale.

        Raises:
            HeadgateError: as `KubernetesApi.translated` tells.
        """
        try:
            found = await self._api.call("GET", self._target.scale)
        except Answered as answer:
            if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and _ABSENT in answer.said:
                return Scale(wanted=None)
            raise self._translated(answer, "get") from answer
        status = found.get("status", {})
        return Scale(
            # A number of 0 is left out of the answer.
            wanted=found.get("spec", {}).get("replicas", 0),
            present=status.get("replicas", 0),
            selector=status.get("selector", ""),
        )

    async def write(self, count: int) -> None:
        """
        Set the number of replicas, whoever set it before.

        Raises:
            HeadgateError: as `KubernetesApi.translated` tells.
        """
        try:
            await self._api.call("PATCH", self._target.scale, body={"spec": {"replicas": count}})
        except Answered as answer:
            raise self._translated(answer, "patch") from answer

    async def ready_pods(self, selector: str) -> tuple[str, ...]:
        """
        Give the names of the pods that are ready and not being deleted.

        Raises:
            HeadgateError: as `KubernetesApi.translated` tells.
        """
        path = f"/api/v1/namespaces/{self._target.namespace}/pods"
        found = await self._api.ask("GET", path, right="list on pods", query=[("labelSelector", selector)])
        return tuple(sorted(pod["metadata"]["name"] for pod in found["items"] if _is_ready(pod)))

    async def close(self) -> None:
        """Let go of the connection."""
        await self._api.close()

    def _translated(self, answer: Answered, verb: str) -> HeadgateError:
        error = self._api.translated(answer, f"{verb} on {self._target.plural}/scale of group {self._target.group}")
        if isinstance(error, NotFoundError):
            return NotFoundError(f"{error}. Hint: there must be such a resource, with a scale subresource")
        return error


def _is_ready(pod: Mapping[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]
