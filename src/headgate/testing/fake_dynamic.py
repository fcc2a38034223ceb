"""
A fake of what no Flink has: the configuration endpoint of FLIP-530, written by hand after the proposal's text.

That Headgate gets along with it proves nothing of any Flink to come.
"""

from __future__ import annotations

from typing import Any

from aiohttp import web

from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_requests import RefusedRequest


class ProposedFlink(FakeFlink):
    """
    A fake Flink that also does what the proposal says.

    Attributes:
        configurations: what each job was submitted with, by job id; change them at any time.
        versions: of each job's configuration; one that is not here is at 1.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Start the jobs, each submitted with nothing."""
        super().__init__(*arguments, **options)
        self.configurations: dict[str, dict[str, Any]] = {}
        self.versions: dict[str, int] = {}

    def _routes(self) -> list[web.RouteDef]:
        return [*super()._routes(), web.put("/jobs/{job}/config", self._configure)]

    async def _parameters(self, request: web.Request) -> web.Response:
        job = self._job(request).job_id
        told = {
            "jid": job,
            "execution-config": {"user-config": {}},
            "configuration": self.configurations.get(job, {}),
            "version": self.versions.get(job, 1),
        }
        return web.json_response(told)

    async def _configure(self, request: web.Request) -> web.Response:
        job, body = self._job(request).job_id, await request.json()
        version = self.versions.get(job, 1)
        if body["version"] != version:
            raise RefusedRequest(409, f"The configuration is at version {version}.")
        self.configurations[job] = body["configuration"]
        self.versions[job] = version + 1
        return web.json_response({})
