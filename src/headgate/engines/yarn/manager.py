"""
Asks the ResourceManager which Flink applications run.

Source of the fields: Hadoop's "ResourceManager REST API's", Cluster Applications API.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headgate.engines.yarn.reach import YarnClient, manager_options
from headgate.errors import HeadgateError, UnreachableError
from headgate.model.pattern import fits
from headgate.options.yarn import YarnOptions

FLINK = "Apache Flink"
"""The application type under which Flink submits."""
_RUNNING = "RUNNING"
_LIST = "/ws/v1/cluster/apps?applicationTypes=Apache%20Flink&states=RUNNING"


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One running Flink application."""

    id: str
    name: str
    started_ms: int
    rest: str
    """Host and port that its application master registered, which Flink takes for its REST address; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What runs, and which ResourceManager said so."""

    applications: tuple[Application, ...]
    """Oldest first."""
    manager: str
    """Its address, as the options have it."""


class ResourceManagers:
    """The ResourceManagers of one cluster: one of them is active, the others say no."""

    def __init__(self, options: YarnOptions) -> None:
        """Ask nothing yet."""
        self._options = options
        self._clients = {url: YarnClient(manager_options(options, url), options.user) for url in options.urls}

    async def applications(self) -> Listing:
        """
        List the running Flink applications whose names the options want.

        Raises:
            UnreachableError: no ResourceManager gave a usable answer.
        """
        failures: list[str] = []
        for url in list(self._clients):  # the one that answered last is the first
            try:
                found = await self._clients[url].get(_LIST, read_applications)
            except HeadgateError as error:
                failures.append(str(error))
            else:
                self._clients = {url: self._clients[url], **self._clients}
                return Listing(applications=self._wanted(found), manager=url)
        raise UnreachableError("; ".join(failures))

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.close()

    def _wanted(self, found: Sequence[Application]) -> tuple[Application, ...]:
        return tuple(one for one in found if fits(one.name, self._options.applications))


def read_applications(answer: Any) -> tuple[Application, ...]:
    """
    Read `/ws/v1/cluster/apps`; one without an application master yet is left out.

    What a cluster without applications says differs between versions: `apps` is null, empty, or has an empty list.
    """
    listed = (answer["apps"] or {}).get("app") or []
    running = [_application(app) for app in listed if _is_there(app)]
    return tuple(sorted(running, key=lambda one: (one.started_ms, one.id)))


def _is_there(app: Any) -> bool:
    return bool(
        app["state"] == _RUNNING and app["applicationType"] == FLINK and app["trackingUI"] == "ApplicationMaster"
    )


def _application(app: Any) -> Application:
    return Application(
        id=app["id"], name=app["name"], started_ms=int(app["startedTime"]), rest=app.get("amRPCAddress") or ""
    )
