"""As much of the Kubernetes API as a Spark driver needs to ask for executors; no pod ever runs."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

JsonObject = dict[str, Any]
STARTED = "2026-01-01T00:00:00Z"
"""Of every pod: long enough ago that a driver gives up those that it needs no more."""
_TERM = re.compile(r"([^!=, ]+)(?: in \(([^)]*)\)|(!?=)([^,]*))")


def selects(selector: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a pod with these labels is meant."""
    return all(
        (labels.get(key) in among.split(",")) if not relation else (labels.get(key) == value) is (relation == "=")
        for key, among, relation, value in _TERM.findall(selector)
    )


class FakePods:
    """
    Serves pods on loopback while a `with` lasts.

    Attributes:
        requests: what was asked for, such as `POST pods`, in order; reading is not noted.
        pods: those that were asked for and not deleted, by name.
    """

    def __init__(self) -> None:
        """Have none."""
        self.requests: list[str] = []
        self.pods: dict[str, JsonObject] = {}
        self._version = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Serve."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, method: str, path: str, body: JsonObject, selector: str = "") -> JsonObject:
        """Keep pods; everything else is taken and forgotten."""
        kind, _, name = path.partition("/namespaces/")[2].partition("/")[2].partition("/")
        if method == "GET":
            return self._listed(selector)
        self.requests.append(f"{method} {kind}")
        if method == "DELETE":
            self.pods.pop(name, None)
            return {"kind": "Status", "apiVersion": "v1", "status": "Success"}
        self._version += 1
        identity = {"uid": f"uid-{self._version}", "resourceVersion": str(self._version)}
        kept = {**body, "metadata": {**body.get("metadata", {}), **identity, "namespace": "default"}}
        if kind == "pods" and method == "POST":
            kept = {
                **kept,
                "metadata": {**kept["metadata"], "creationTimestamp": STARTED},
                "status": {"phase": "Pending", "startTime": STARTED},
            }
            self.pods[kept["metadata"]["name"]] = kept
        return kept

    def _listed(self, selector: str) -> JsonObject:
        version = {"resourceVersion": str(self._version)}
        items = [pod for pod in self.pods.values() if selects(selector, pod["metadata"].get("labels", {}))]
        return {"kind": "PodList", "apiVersion": "v1", "metadata": version, "items": items}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            """Hands requests to the fake."""

            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def _answer(self) -> None:
                parts = urlsplit(self.path)
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                refused = "watch=true" in parts.query  # the driver goes on with lists
                selector = parse_qs(parts.query).get("labelSelector", [""])[0]
                told = {} if refused else fake.answer(self.command, parts.path, body, selector)
                text = json.dumps(told).encode()
                self.send_response(403 if refused else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - the server's names

        return Handler
