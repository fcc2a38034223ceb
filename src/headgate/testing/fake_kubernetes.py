"""A Kubernetes API server on the loopback interface that keeps custom resources, as far as Headgate asks for them."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Self

from aiohttp import web

_RESOURCES = "/apis/{group}/{version}/namespaces/{namespace}/{plural}"
_VERBS = {"GET": "get", "PATCH": "patch", "POST": "create"}
_EXPIRED, _FORBIDDEN, _CONFLICT, _MISSING = 410, 403, 409, 404

Object = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """What was asked."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any


class _Refused(Exception):  # noqa: N818 - an answer of the server, not an error of this program
    def __init__(self, status: int, message: str, reason: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


@dataclass(kw_only=True)
class FakeKubernetes:
    """
    The server; use it as an async context manager.

    Attributes:
        plurals: the definitions that are installed.
        forbidden: verb and plural, `scale` and `status` behind a slash, that nobody may use.
        expiring: how many pages after a first one will be too late.
        silent: whether it does not answer.
        replicas: where the number of a resource's replicas stands below `spec`.
        objects: by plural, namespace and name.
        requests: everything that was asked, in order.
    """

    plurals: set[str] = field(default_factory=lambda: {"flinkdeployments", "flinksessionjobs"})
    forbidden: set[tuple[str, str]] = field(default_factory=set)
    expiring: int = 0
    silent: bool = False
    replicas: tuple[str, ...] = ("taskManager", "replicas")
    objects: dict[tuple[str, str, str], Object] = field(default_factory=dict)
    requests: list[ApiRequest] = field(default_factory=list)
    url: str = ""
    _versions: Any = field(default_factory=lambda: count(1))
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        """Serve on a free port."""
        app = web.Application(middlewares=[self._answer])
        one = f"{_RESOURCES}/{{name}}"
        app.add_routes(
            [
                web.get("/apis/{group}/{version}/{plural}", self._list),
                web.get(_RESOURCES, self._list),
                web.post(_RESOURCES, self._create),
                web.get(one, self._get),
                web.patch(one, self._patch),
                web.patch(f"{one}/{{part:status}}", self._patch),
                web.get(f"{one}/{{part:scale}}", self._scale),
                web.patch(f"{one}/{{part:scale}}", self._rescale),
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

    def write_kubeconfig(self, folder: Path) -> Path:
        """Write how it is reached."""
        return write_kubeconfig(self.url, folder)

    def bodies(self, method: str = "PATCH") -> list[Any]:
        """Give the bodies of all requests of a method that are not for a status."""
        return [each.body for each in self.requests if each.method == method and not each.path.endswith("/status")]

    @web.middleware
    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else None
        self.requests.append(ApiRequest(method=request.method, path=request.path, query=dict(request.query), body=body))
        if self.silent:
            return web.Response(status=503, text="not now")
        info = request.match_info
        if info.get("plural") not in self.plurals:
            return web.Response(status=_MISSING, text="404 page not found\n")
        what = "/".join(filter(None, (info["plural"], info.get("part"))))
        verb = "list" if request.method == "GET" and "name" not in info else _VERBS[request.method]
        try:
            self._permit(verb, what)
            return await handler(request)
        except _Refused as refusal:
            said = {"kind": "Status", "message": str(refusal), "reason": refusal.reason, "code": refusal.status}
            return web.json_response(said, status=refusal.status)

    def _permit(self, verb: str, what: str) -> None:
        if (verb, what) in self.forbidden:
            raise _Refused(_FORBIDDEN, f"cannot {verb} resource {what}", "Forbidden")

    async def _list(self, request: web.Request) -> web.Response:
        namespace, plural = request.match_info.get("namespace"), request.match_info["plural"]
        wanted = request.query.get("labelSelector", "").partition("=")
        found = [
            one
            for (of, place, _), one in sorted(self.objects.items())
            if of == plural and namespace in {None, place} and _has_label(one, wanted[0], wanted[2])
        ]
        start = int(request.query.get("continue", "0"))
        if start and self.expiring:
            self.expiring -= 1
            raise _Refused(_EXPIRED, "The provided continue parameter is too old", "Expired")
        end = start + int(request.query.get("limit", len(found) or 1))
        further = {"continue": str(end)} if end < len(found) else {}
        return web.json_response({"items": found[start:end], "metadata": further})

    async def _create(self, request: web.Request) -> web.Response:
        namespace, plural = request.match_info["namespace"], request.match_info["plural"]
        made = copy.deepcopy(await request.json())
        made["metadata"] |= {"namespace": namespace, "generation": 1, "resourceVersion": str(next(self._versions))}
        self.objects[plural, namespace, made["metadata"]["name"]] = made
        return web.json_response(made, status=201)

    async def _get(self, request: web.Request) -> web.Response:
        return web.json_response(self._find(request))

    async def _patch(self, request: web.Request) -> web.Response:
        part, patch = request.match_info.get("part", "spec"), await request.json()
        return web.json_response(self._change(request, part, patch))

    async def _scale(self, request: web.Request) -> web.Response:
        place: Any = self._find(request).get("spec") or {}
        for key in self.replicas:
            place = place.get(key) if isinstance(place, dict) else None
        if place is None:
            path = ".".join(("spec", *self.replicas))
            message = f'Internal error occurred: the spec replicas field ".{path}" does not exist'
            raise _Refused(500, message, "InternalError")
        return web.json_response({"kind": "Scale", "spec": {"replicas": place} if place else {}, "status": {}})

    async def _rescale(self, request: web.Request) -> web.Response:
        change: Any = (await request.json())["spec"]["replicas"]
        for key in reversed(self.replicas):
            change = {key: change}
        self._change(request, "spec", {"spec": change})
        return await self._scale(request)

    def _change(self, request: web.Request, part: str, patch: Mapping[str, Any]) -> Object:
        present = self._find(request)
        metadata = present["metadata"]
        if patch.get("metadata", {}).get("resourceVersion", metadata["resourceVersion"]) != metadata["resourceVersion"]:
            raise _Refused(_CONFLICT, "the object has been modified", "Conflict")
        changed = merged(present.get(part) or {}, patch.get(part) or {})
        if changed == present.get(part):
            return present
        grown = {"generation": metadata["generation"] + 1} if part == "spec" else {}
        metadata = {**metadata, **grown, "resourceVersion": str(next(self._versions))}
        self.objects[_key(request)] = {**present, "metadata": metadata, part: changed}
        return self.objects[_key(request)]

    def _find(self, request: web.Request) -> Object:
        found = self.objects.get(_key(request))
        if found is None:
            raise _Refused(
                _MISSING, f'{request.match_info["plural"]} "{request.match_info["name"]}" not found', "NotFound"
            )
        return found


def merged(present: Any, patch: Any) -> Any:
    """Give what a JSON merge patch (RFC 7396) makes of a value."""
    if not isinstance(patch, Mapping):
        return patch
    kept = present if isinstance(present, Mapping) else {}
    changed = {key: merged(kept.get(key), value) for key, value in patch.items() if value is not None}
    return {**{key: value for key, value in kept.items() if key not in patch}, **changed}


def _key(request: web.Request) -> tuple[str, str, str]:
    return request.match_info["plural"], request.match_info["namespace"], request.match_info["name"]


def _has_label(one: Object, key: str, value: str) -> bool:
    return not key or one["metadata"].get("labels", {}).get(key) == value


def write_kubeconfig(url: str, folder: Path) -> Path:
    """Write how a server without encryption is reached, with a token that means nothing."""
    content = {
        "clusters": [{"name": "fake", "cluster": {"server": url}}],
        "users": [{"name": "fake", "user": {"token": "t"}}],
        "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
        "current-context": "fake",
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(content))  # JSON is YAML
    return file
