"""The objects of Kubernetes that events are about, found by what an event says of its subject."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from headgate.kube.api import Answered, KubernetesApi
from headgate.model.identity import JobKey

_FLINK = "flink.apache.org/v1beta1"
_ABSENT = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_REMEMBERED, _REMEMBERED_S = 10_000, 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One object, known by name."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""
    """Empty where nobody may look, or nothing is there: `kubectl describe` then does not show its events."""

    @property
    def path(self) -> str:
        """Where it is read."""
        group = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        if self.kind == "Namespace":
            return f"{group}/namespaces/{self.name}"
        return f"{group}/namespaces/{self.namespace}/{self.kind.lower()}s/{self.name}"

    @property
    def reference(self) -> Mapping[str, str]:
        """How an event names it."""
        known = {"apiVersion": self.api_version, "kind": self.kind, "namespace": self.namespace, "name": self.name}
        return {**known, "uid": self.uid} if self.uid else known


def flink_deployment(subject: JobKey | str) -> Place | None:
    """Give the FlinkDeployment of a subject called `<kubernetes>:<namespace>.<deployment>`; None for any other."""
    cluster = subject.cluster if isinstance(subject, JobKey) else subject
    _, colon, place = cluster.rpartition(":")
    namespace, dot, name = place.partition(".")
    if not (colon and dot and namespace and name):
        return None
    return Place(api_version=_FLINK, kind="FlinkDeployment", namespace=namespace, name=name)


class Objects:
    """Finds objects, and remembers them for ten minutes, for one that is made anew has another `uid`."""

    def __init__(self) -> None:
        """Know none."""
        self._known: OrderedDict[JobKey | str | Place, tuple[Place, float]] = OrderedDict()

    async def find(self, api: KubernetesApi, subject: JobKey | str) -> Place | None:
        """
        Give the FlinkSessionJob of a job in a session cluster, or else the FlinkDeployment; None for other clusters'.

        Raises:
            HeadgateError: no usable answer.
        """
        deployment = flink_deployment(subject)
        return await self._remembered(api, subject, deployment) if deployment else None

    async def complete(self, api: KubernetesApi, place: Place) -> Place:
        """
        Give an object with its `uid`, if that may be read.

        Raises:
            HeadgateError: no usable answer.
        """
        return await self._remembered(api, place, place)

    async def _remembered(self, api: KubernetesApi, key: JobKey | str | Place, place: Place) -> Place:
        found, until_s = self._known.get(key, (place, 0.0))
        if until_s <= time.monotonic():
            found = await _look_up(api, key, place)
            self._known[key] = found, time.monotonic() + _REMEMBERED_S
            self._known.move_to_end(key)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found


async def _look_up(api: KubernetesApi, key: JobKey | str | Place, place: Place) -> Place:
    found = await _read(api, place.path)
    here = replace(place, uid=found.get("metadata", {}).get("uid", ""))
    if isinstance(key, JobKey) and found and not found.get("spec", {}).get("job"):
        return await _session_job(api, key, here) or here
    return here


async def _session_job(api: KubernetesApi, job: JobKey, session: Place) -> Place | None:
    """Find it by the name of its Flink job, which need not be its own."""
    found = await _read(api, f"/apis/{_FLINK}/namespaces/{session.namespace}/flinksessionjobs")
    for each in found.get("items", ()):
        name, status = each["metadata"]["name"], each.get("status", {})
        if each.get("spec", {}).get("deploymentName") != session.name:
            continue
        if job.name in {name, status.get("jobStatus", {}).get("jobName")}:
            return replace(session, kind="FlinkSessionJob", name=name, uid=each["metadata"]["uid"])
    return None


async def _read(api: KubernetesApi, path: str) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = await api.call("GET", path)
    except Answered as answer:
        if answer.status in _ABSENT:
            return {}
        raise api.translated(answer, "get") from answer
    return found
