"""Leases as objects of Kubernetes (`coordination.k8s.io/v1`): how they are written and read, not whose they are."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from headgate.errors import ConflictError, HeadgateError, NotFoundError, RefusedError
from headgate.kube.api import KubernetesApi
from headgate.kube.blocking import BlockingApi
from headgate.kube.login import Login

_LABEL = "headgate/leases"
_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseObject:
    """What stands in one."""

    shard: int
    holder: str
    """Empty: given back."""
    token: int
    """`leaseTransitions`."""
    duration: timedelta
    """Kubernetes counts whole seconds: the next ones up."""
    version: str = ""
    """`resourceVersion`: another one after each write, whoever wrote. Empty: there is no such object yet."""


class LeaseObjects:
    """
    The objects of one prefix in one namespace; safe to call from several threads.

    An object is changed by a patch that names its version. A `PUT` would make one anew that somebody has deleted.
    """

    def __init__(self, login: Login, *, namespace: str, prefix: str) -> None:
        """Connect to nothing yet."""
        self._api = BlockingApi(login, subject=f"leases in namespace {namespace}")
        self._place = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._prefix = prefix
        self._named = re.compile(rf"{re.escape(prefix)}-(?P<seat>seat-)?(?P<number>\d+)")

    def read_all(self) -> tuple[LeaseObject, ...]:
        """
        Give all there are, in one call.

        Raises:
            HeadgateError: no usable answer, or it is not allowed.
        """
        return self._api.run(self._list)

    def write_all(self, wanted: Collection[LeaseObject], /) -> Mapping[int, LeaseObject | HeadgateError]:
        """
        Write those that are still at their version.

        Args:
            wanted: as they are to be, each with the version that it is to replace.

        Returns:
            By shard each as it is now, or why it was not written: `ConflictError` when somebody else has been there.
        """
        return self._api.run(lambda api: self._write_together(api, wanted))

    def close(self) -> None:
        """Let go of the connection."""
        self._api.close()

    async def _list(self, api: KubernetesApi) -> tuple[LeaseObject, ...]:
        query = [("labelSelector", f"{_LABEL}={self._prefix}")]
        found = await api.ask("GET", self._place, right="list on leases", query=query)
        matched = ((self._named.fullmatch(item["metadata"]["name"]), item) for item in found["items"])
        return tuple(_read(_number(match), item) for match, item in matched if match)

    async def _write_together(
        self, api: KubernetesApi, wanted: Collection[LeaseObject]
    ) -> Mapping[int, LeaseObject | HeadgateError]:
        turns = asyncio.Semaphore(_AT_ONCE)

        async def write(one: LeaseObject) -> LeaseObject:
            async with turns:
                return await self._write(api, one)

        written = await asyncio.gather(*map(write, wanted), return_exceptions=True)
        return {one.shard: _told(done) for one, done in zip(wanted, written, strict=True)}

    async def _write(self, api: KubernetesApi, wanted: LeaseObject) -> LeaseObject:
        name, body = self._name(wanted.shard), _body(wanted)
        if not wanted.version:
            body["metadata"] = {"name": name, "labels": {_LABEL: self._prefix}}
            return await self._create(api, wanted.shard, body)
        body["metadata"] = {"resourceVersion": wanted.version}
        try:
            done = await api.ask("PATCH", f"{self._place}/{name}", right="patch on leases", body=body)
        except NotFoundError as error:
            message = f"the Lease {name} has been deleted"
            raise ConflictError(message) from error
        return _read(wanted.shard, done)

    async def _create(self, api: KubernetesApi, shard: int, body: Mapping[str, Any]) -> LeaseObject:
        try:
            return _read(shard, await api.ask("POST", self._place, right="create on leases", body=body))
        except ConflictError as error:
            if shard not in {one.shard for one in await self._list(api)}:
                message = (
                    f"the Lease {self._name(shard)} is somebody else's, as it has no label {_LABEL}={self._prefix}. "
                    "Hint: delete it, or set another `lease.kubernetes.prefix`"
                )
                raise RefusedError(message) from error
            raise

    def _name(self, shard: int) -> str:
        return f"{self._prefix}-{shard}" if shard >= 0 else f"{self._prefix}-seat-{-shard}"


def _told(done: LeaseObject | BaseException) -> LeaseObject | HeadgateError:
    if isinstance(done, LeaseObject | HeadgateError):
        return done
    raise done


def _number(match: re.Match[str]) -> int:
    return -int(match["number"]) if match["seat"] else int(match["number"])


def _body(wanted: LeaseObject) -> dict[str, Any]:
    # Nobody's clock counts but for people: the time makes each renewal a change, which is what the others look for.
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {
        "holderIdentity": wanted.holder,
        "leaseDurationSeconds": max(1, math.ceil(wanted.duration.total_seconds())),
        "renewTime": now,
        "leaseTransitions": wanted.token,
    }
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec}


def _read(shard: int, item: Mapping[str, Any]) -> LeaseObject:
    spec = item.get("spec", {})
    return LeaseObject(
        shard=shard,
        holder=spec.get("holderIdentity", ""),
        token=spec.get("leaseTransitions", 0),
        duration=timedelta(seconds=spec.get("leaseDurationSeconds", 1)),
        version=item["metadata"]["resourceVersion"],
    )
