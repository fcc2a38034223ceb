"""A YARN ResourceManager on the loopback interface: it lists applications and leads to the fake Flink of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import aiohttp
from aiohttp import web

from headgate.testing.fake_flink import FakeFlink

STANDBY_TEXT = "This is standby RM. The redirect url is: http://active:8088/ws/v1/cluster/apps"


class FakeYarn:
    """
    The server; use it as an async context manager.

    Attributes:
        apps: as the API writes them; change them at any time.
        flinks: what the proxy leads to, by application id.
        standby: whether another ResourceManager is the active one.
        wanted_user: refuses requests without this `user.name`, unless it is None.
        requests: query and headers of each request, by its path, in order.
    """

    def __init__(self, apps: list[dict[str, Any]], flinks: Mapping[str, FakeFlink]) -> None:
        """Serve nothing yet."""
        self.apps = apps
        self.flinks = dict(flinks)
        self.standby = False
        self.wanted_user: str | None = None
        self.requests: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = []
        self.url = ""
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        """Serve on a free port of the loopback interface."""
        app = web.Application()
        app.add_routes(
            [
                web.get("/ws/v1/cluster/apps", self._list),
                web.get("/proxy/{id}/{path:.*}", self._proxy),
                web.put("/proxy/{id}/{path:.*}", self._proxy),  # YARN's proxy knows no other methods
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _list(self, request: web.Request) -> web.Response:
        if refusal := self._refusal(request):
            return refusal
        wanted = [app for app in self.apps if _matches(app, request.query)]
        return web.json_response({"apps": {"app": wanted} if wanted else None})

    async def _proxy(self, request: web.Request) -> web.Response:
        if refusal := self._refusal(request):
            return refusal
        flink = self.flinks.get(request.match_info["id"])
        if flink is None:
            return web.Response(status=404, text=f"Application {request.match_info['id']} could not be found")
        query = {name: value for name, value in request.query.items() if name != "user.name"}
        target, body = f"{flink.url}/{request.match_info['path']}", await request.read()
        headers = {"Content-Type": request.content_type} if body else {}
        async with (
            aiohttp.ClientSession() as session,
            session.request(request.method, target, params=query, data=body or None, headers=headers) as answer,
        ):
            return web.Response(status=answer.status, body=await answer.read(), content_type="application/json")

    def _refusal(self, request: web.Request) -> web.Response | None:
        self.requests.append((request.path, dict(request.query), dict(request.headers)))
        if self.standby:
            return web.Response(status=200, text=STANDBY_TEXT, headers={"Refresh": "3; url=http://active:8088/"})
        if self.wanted_user is not None and request.query.get("user.name") != self.wanted_user:
            return web.Response(status=401, text="Authentication required")
        return None


def _matches(app: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    types, states = query.get("applicationTypes", ""), query.get("states", "")
    return app["applicationType"] in types.split(",") and app["state"] in states.split(",")
