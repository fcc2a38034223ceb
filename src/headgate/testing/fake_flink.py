"""
A Flink REST server on the loopback interface that has jobs, a clock of its own and faults on demand, but no Flink.

    python -m headgate.testing.fake_flink --jobs 1000 --vertices 10 --port 0

prints its address and serves until it is interrupted, with the wall clock.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Self

from aiohttp import web

from headgate.testing import fake_answers as answers
from headgate.testing.fake_job import FakeJob, FakeVertex, chain
from headgate.testing.fake_requests import RecordedRequest, RefusedRequest, checked_bounds, elastic
from headgate.testing.faults import Fault, FaultKind

START_MS = 1_700_000_000_000
"""Where the settable clock begins."""
DEFAULT_CONFIG = {"jobmanager.scheduler": "adaptive", "metrics.fetcher.update-interval": "10000"}
DEFAULT_EXCEPTIONS = 20
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class FakeFlink:
    """
    The server; use it as an async context manager.

    Attributes:
        jobs: by id; change them at any time.
        slots: of the whole cluster.
        config: what `/jobmanager/config` says.
        workers: each TaskManager's metrics by name.
        recorded: answers by path, given instead of the server's own.
        refresh_s: how often the metrics are fetched from the jobs. As in Flink, it happens when somebody asks, and
            who asks gets the values of the fetch before. 0 serves what is true now.
        tick_s: how far the settable clock moves whenever the jobs are listed, for who cannot call `advance`.
        requests: everything that was asked, in order.
    """

    def __init__(self, jobs: Iterable[FakeJob] = (), *, wall_clock: bool = False, refresh_s: float = 0.0) -> None:
        """Start the jobs; the server itself starts with the context."""
        self.jobs = {job.job_id: job for job in jobs}
        self.slots = 64
        self.config = dict(DEFAULT_CONFIG)
        self.workers = [dict(answers.WORKER_METRICS)]
        self.recorded: dict[str, object] = {}
        self.refresh_s = refresh_s
        self.tick_s = 0.0
        self.requests: list[RecordedRequest] = []
        self.url = ""
        self._wall_clock = wall_clock
        self._now_ms = START_MS
        self._faults: list[Fault] = []
        self._fetched: dict[str, FakeJob] = {}
        self._stopping = asyncio.Event()
        self._runner: web.AppRunner | None = None
        for job in self.jobs.values():
            job.start(self.now_ms)

    @property
    def now_ms(self) -> int:
        """The JobManager's clock."""
        return int(time.time() * 1000) if self._wall_clock else self._now_ms

    def advance(self, seconds: float) -> None:
        """Move the settable clock; the jobs follow when they are next asked about."""
        self._now_ms += round(seconds * 1000)

    def add(self, job: FakeJob) -> None:
        """Submit a job now."""
        job.start(self.now_ms)
        self.jobs[job.job_id] = job

    def vanish(self, job_id: str) -> None:
        """Let a job be gone, as after a restart of the JobManager."""
        del self.jobs[job_id]

    def plant(self, fault: Fault) -> None:
        """Let something go wrong from now on."""
        self._faults.append(fault)

    def heal(self) -> None:
        """Take all faults away."""
        self._faults.clear()

    def asked(self, path_end: str, method: str = "GET") -> int:
        """Count the requests whose path ends so."""
        return sum(each.method == method and each.path.endswith(path_end) for each in self.requests)

    async def __aenter__(self) -> Self:
        """Serve on a free port of the loopback interface."""
        await self.start(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop, and let hanging requests go."""
        self._stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def start(self, port: int) -> None:
        """Serve on a port of the loopback interface; 0 takes a free one."""
        app = web.Application(middlewares=[self._record])
        app.add_routes(self._routes())
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    def _routes(self) -> list[web.RouteDef]:
        vertex = "/jobs/{job}/vertices/{vertex}"
        return [
            web.get("/overview", self._overview),
            web.get("/jobs/overview", self._list_jobs),
            web.get("/jobs/{job}", self._job_details),
            web.get("/jobs/{job}/config", self._parameters),
            web.get("/jobs/{job}/plan", self._plan),
            web.get("/jobs/{job}/checkpoints/config", self._checkpoints),
            web.get("/jobs/{job}/exceptions", self._exceptions),
            web.get("/jobs/{job}/metrics", self._job_metrics),
            web.get("/jobs/{job}/resource-requirements", self._requirements),
            web.put("/jobs/{job}/resource-requirements", self._require),
            web.get(f"{vertex}/subtasks/metrics", self._aggregated),
            web.get(f"{vertex}/metrics", self._per_subtask),
            web.get("/jobmanager/config", self._config),
            web.get("/jobmanager/metrics", self._jobmanager_metrics),
            web.get("/taskmanagers", self._list_workers),
            web.get("/taskmanagers/metrics", self._worker_metrics),
        ]

    @web.middleware
    async def _record(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else None
        self.requests.append(
            RecordedRequest(
                method=request.method,
                path=request.path,
                query=dict(request.query),
                body=body,
                at_ms=self.now_ms,
                headers=dict(request.headers),
                length=len(request.raw_path),
            )
        )
        fault = next((each for each in self._faults if each.strikes(request.method, request.path)), None)
        if fault is not None:
            return await self._strike(fault, request)
        if request.path in self.recorded:
            return web.json_response(self.recorded[request.path])
        try:
            return await handler(request)
        except RefusedRequest as refusal:
            return _error(refusal.status, str(refusal))

    async def _strike(self, fault: Fault, request: web.Request) -> web.StreamResponse:
        if fault.kind is FaultKind.HANG:
            await self._stopping.wait()
        if fault.kind is FaultKind.RESET and request.transport is not None:
            request.transport.abort()
        if fault.kind is FaultKind.GARBLE:
            return web.Response(text='{"vertices": [', content_type="application/json")
        return _error(fault.status, fault.text)

    async def _overview(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "taskmanagers": len(self.workers),
                "slots-total": self.slots,
                "slots-available": self._free_slots(),
                "jobs-running": len(self.jobs),
                "jobs-finished": 0,
                "jobs-cancelled": 0,
                "jobs-failed": 0,
                "flink-version": "2.3.0",
            }
        )

    async def _list_jobs(self, _: web.Request) -> web.Response:
        self.advance(self.tick_s)
        for job in self.jobs.values():
            job.advance_to(self.now_ms)
        return web.json_response({"jobs": [answers.job_line(job) for job in self.jobs.values()]})

    async def _job_details(self, request: web.Request) -> web.Response:
        return web.json_response(answers.job_details(self._fetched_job(request)))

    async def _parameters(self, request: web.Request) -> web.Response:
        job = self._job(request)
        return web.json_response({"jid": job.job_id, "name": job.name, "execution-config": {"user-config": {}}})

    async def _plan(self, request: web.Request) -> web.Response:
        return web.json_response({"plan": answers.plan(self._job(request))})

    async def _checkpoints(self, request: web.Request) -> web.Response:
        interval_ms = self._job(request).checkpoint_interval_ms
        if interval_ms is None:
            raise RefusedRequest(404, "Checkpointing is not enabled for this job.")
        return web.json_response(answers.checkpoint_config(interval_ms))

    async def _exceptions(self, request: web.Request) -> web.Response:
        most = int(request.query.get("maxExceptions", DEFAULT_EXCEPTIONS))
        return web.json_response(answers.exceptions(self._job(request), most))

    async def _job_metrics(self, request: web.Request) -> web.Response:
        return web.json_response(answers.single_values({"numRestarts": self._job(request).restarts}, _wanted(request)))

    async def _requirements(self, request: web.Request) -> web.Response:
        return web.json_response(answers.requirements(elastic(self._job(request))))

    async def _require(self, request: web.Request) -> web.Response:
        job = elastic(self._job(request))
        job.request(checked_bounds(job, await request.json()))
        return web.json_response({})

    async def _aggregated(self, request: web.Request) -> web.Response:
        job, vertex = self._vertex(request)
        return web.json_response(answers.aggregates(answers.subtask_metrics(job, vertex), _wanted(request)))

    async def _per_subtask(self, request: web.Request) -> web.Response:
        metrics = answers.subtask_metrics(*self._vertex(request))
        return web.json_response(answers.single_values(answers.per_subtask(metrics), _wanted(request)))

    async def _config(self, _: web.Request) -> web.Response:
        return web.json_response(answers.key_values(self.config))

    async def _jobmanager_metrics(self, request: web.Request) -> web.Response:
        metrics = {"taskSlotsTotal": self.slots, "taskSlotsAvailable": self._free_slots()}
        return web.json_response(answers.single_values(metrics, _wanted(request)))

    async def _list_workers(self, _: web.Request) -> web.Response:
        slots = self.slots // max(len(self.workers), 1)
        return web.json_response({"taskmanagers": [answers.worker(f"tm{n}", slots) for n in range(len(self.workers))]})

    async def _worker_metrics(self, request: web.Request) -> web.Response:
        names = sorted({name for worker in self.workers for name in worker})
        metrics = {name: [worker[name] for worker in self.workers if name in worker] for name in names}
        return web.json_response(answers.aggregates(metrics, _wanted(request)))

    def _free_slots(self) -> int:
        used = sum(max(vertex.parallelism for vertex in job.vertices) for job in self.jobs.values())
        return max(0, self.slots - used)

    def _job(self, request: web.Request) -> FakeJob:
        job = self.jobs.get(request.match_info["job"])
        if job is None:
            raise RefusedRequest(404, f"Job {request.match_info['job']} not found")
        job.advance_to(self.now_ms)
        return job

    def _fetched_job(self, request: web.Request) -> FakeJob:
        """Give the job with the metrics of the latest fetch, and fetch anew if that is due."""
        job = self._job(request)
        if not self.refresh_s:
            return job
        old = self._fetched.get(job.job_id)
        if old is None or old.now_ms + self.refresh_s * 1000 <= job.now_ms:
            self._fetched[job.job_id] = copy.deepcopy(job)
        if old is None or old.running_since_ms != job.running_since_ms:
            return job
        shown = copy.copy(old)
        shown.now_ms = job.now_ms
        return shown

    def _vertex(self, request: web.Request) -> tuple[FakeJob, FakeVertex]:
        job = self._fetched_job(request)
        wanted = request.match_info["vertex"]
        vertex = next((vertex for vertex in job.vertices if vertex.id == wanted), None)
        if vertex is None:
            raise RefusedRequest(404, f"JobVertex {wanted} not found")
        return job, vertex


def _wanted(request: web.Request) -> list[str]:
    return [name for name in request.query.get("get", "").split(",") if name]


def _error(status: int, text: str) -> web.Response:
    line = f"org.apache.flink.runtime.rest.handler.RestHandlerException: {text}\n\tat org.apache.flink.Handler.java:1"
    errors = ["Internal server error.", text] if status >= web.HTTPInternalServerError.status_code else [line]
    return web.json_response({"errors": errors}, status=status)


def _fleet(jobs: int, vertices: int) -> list[FakeJob]:
    return [
        chain(job_id=f"{number + 1:032x}", name=f"job-{number:05d}", vertices=vertices, rate=400 + number % 200)
        for number in range(jobs)
    ]


async def _serve(options: argparse.Namespace) -> None:
    server = FakeFlink(_fleet(options.jobs, options.vertices), wall_clock=True, refresh_s=options.refresh)
    server.slots = 4 * options.jobs
    await server.start(options.port)
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    while True:
        await asyncio.sleep(10)
        server.requests.clear()


def main() -> None:
    """Serve a fleet of equal jobs until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a fake Flink on 127.0.0.1 and print its address.")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--vertices", type=int, default=10)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--refresh", type=float, default=0.0, help="seconds between metric fetches")
    try:
        asyncio.run(_serve(parser.parse_args()))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
