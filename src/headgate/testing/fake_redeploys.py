"""A fake Flink whose jobs are stopped with a savepoint, and started from one out of a jar, with ids of one's choice."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from headgate.testing import fake_answers as answers
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import Failure, FakeJob
from headgate.testing.fake_requests import RefusedRequest

JAR = "job.jar"
_DUPLICATE = "Could not execute application.\nCaused by: org.apache.flink.Duplicate: Job has already been submitted."
_CHECKPOINT_FAILED = "java.util.CompletionException: wrapped\nCaused by: java.io.IOException: {}\n\tat Some.java:1"


@dataclass(slots=True, kw_only=True)
class Started:
    """How one job was started."""

    body: dict[str, Any]
    at_ms: int


@dataclass(slots=True)
class _Stops:
    """What was asked to stop, by trigger id."""

    failures: dict[str, str | None] = field(default_factory=dict)
    savepoints: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By job: where, and when."""


class RedeployableFlink(FakeFlink):
    """
    The fake server with savepoints and jars.

    Attributes:
        savepoint_failure: why a savepoint cannot be written; None: it can.
        savepoint_takes: whether savepoints are never ready until this is False.
        start_failures: why the next starts fail, one each; Flink then lists a failed job.
        starting: whether started jobs wait for slots until this is False.
        started: how jobs were started, by id.
        forgets_triggers: whether it has been too long since, for Flink to tell of stops.
        unanswered_starts: how many of the next starts get a 500 and come about only when `finish_starts` is called.
        completed: how many checkpoints each job has completed, by id.
        keeps_checkpoints: whether those of a job that is cancelled stay.
        tells_checkpoints: whether jobs tell of any; between two attempts to run they do not.
    """

    def __init__(self, jobs: Iterable[FakeJob] = ()) -> None:
        """Have the jobs, and one jar that builds the first."""
        super().__init__(jobs)
        self.savepoint_failure: str | None = None
        self.savepoint_takes = False
        self.start_failures: list[str] = []
        self.starting = False
        self.started: dict[str, Started] = {}
        self.forgets_triggers = False
        self.unanswered_starts = 0
        self.completed: dict[str, int] = {}
        self.keeps_checkpoints = False
        self.tells_checkpoints = True
        self._unfinished: list[tuple[str, int]] = []
        self._ended: dict[str, int] = {}
        self._program = copy.deepcopy(next(iter(self.jobs.values())))
        self._stops = _Stops()

    @property
    def alive(self) -> list[str]:
        """Give the ids of the jobs that have not ended."""
        return [job.job_id for job in self.jobs.values() if job.state not in {"FINISHED", "FAILED", "CANCELED"}]

    def ready(self) -> None:
        """Give waiting jobs their slots."""
        self.starting = False
        for job in self.jobs.values():
            job.tasks_missing = 0

    def finish_starts(self) -> None:
        """Let the programs whose start was not answered come to their end: their jobs run then."""
        for job_id, parallelism in self._unfinished:
            if job_id not in self.jobs:
                self.add(self._built(job_id, parallelism))
        self._unfinished.clear()

    def end(self, job_id: str, state: str) -> None:
        """Let a job come to its end now."""
        self.jobs[job_id].state, self._ended[job_id] = state, self.now_ms

    def _routes(self) -> list[web.RouteDef]:
        return [
            *super()._routes(),
            web.get("/jars", self._jars),
            web.post("/jars/{jar}/plan", self._plan_jar),
            web.post("/jars/{jar}/run", self._run_jar),
            web.post("/jobs/{job}/stop", self._stop),
            web.patch("/jobs/{job}", self._cancel),
            web.get("/jobs/{job}/savepoints/{trigger}", self._savepoint),
            web.get("/jobs/{job}/checkpoints", self._statistics),
        ]

    async def _list_jobs(self, request: web.Request) -> web.Response:
        await super()._list_jobs(request)
        lines = [answers.job_line(job) for job in self.jobs.values()]
        ends = ({"end-time": self._ended[line["jid"]]} if line["jid"] in self._ended else {} for line in lines)
        return web.json_response({"jobs": [{**line, **end} for line, end in zip(lines, ends, strict=True)]})

    async def _jars(self, _: web.Request) -> web.Response:
        return web.json_response({"files": [{"id": f"0_{JAR}", "name": JAR, "uploaded": 1}]})

    async def _plan_jar(self, _: web.Request) -> web.Response:
        return web.json_response({"plan": {"nodes": [{"id": vertex.id} for vertex in self._program.vertices]}})

    async def _run_jar(self, request: web.Request) -> web.Response:
        body = await request.json()
        job_id = body.get("jobId") or f"{len(self.started) + 100:032x}"
        if self.unanswered_starts:
            self.unanswered_starts -= 1
            self._unfinished.append((job_id, body.get("parallelism", 1)))
            raise RefusedRequest(500, "Internal server error.")
        if job_id in self.jobs:
            raise RefusedRequest(400, _DUPLICATE)
        self.started[job_id] = Started(body=body, at_ms=self.now_ms)
        job = self._built(job_id, body.get("parallelism", 1))
        self.add(job)
        if self.start_failures:
            job.failures.append(Failure(self.now_ms, f"org.apache.flink.Failed: {self.start_failures.pop(0)}"))
            self.end(job_id, "FAILED")
            raise RefusedRequest(400, "Could not execute application.")
        return web.json_response({"jobid": job_id})

    def _built(self, job_id: str, parallelism: int) -> FakeJob:
        job = copy.deepcopy(self._program)
        job.job_id, job.submitted_at_ms = job_id, 0
        job.tasks_missing = 1 if self.starting else 0
        for vertex in job.vertices:
            vertex.parallelism, vertex.upper_bound = parallelism, None
        return job

    async def _stop(self, request: web.Request) -> web.Response:
        job, trigger = self._job(request), (await request.json())["triggerId"]
        if trigger not in self._stops.failures:
            self._stops.failures[trigger] = self.savepoint_failure
            if self.savepoint_failure is None:
                self._stops.savepoints[job.job_id] = (f"file:/savepoints/{job.job_id[:6]}", self.now_ms)
        self._end_stopped(job)
        return web.json_response({"request-id": trigger}, status=202)

    async def _savepoint(self, request: web.Request) -> web.Response:
        job, trigger = self._job(request), request.match_info["trigger"]
        if self.forgets_triggers or trigger not in self._stops.failures:
            raise RefusedRequest(404, f"There is no savepoint operation with triggerId={trigger} for job {job.job_id}.")
        failure = self._stops.failures[trigger]
        if failure is not None:
            cause = {"class": "x", "stack-trace": _CHECKPOINT_FAILED.format(failure)}
            return web.json_response({"status": {"id": "COMPLETED"}, "operation": {"failure-cause": cause}})
        self._end_stopped(job)
        if self.savepoint_takes:
            return web.json_response({"status": {"id": "IN_PROGRESS"}, "operation": None})
        operation = {"location": self._stops.savepoints[job.job_id][0]}
        return web.json_response({"status": {"id": "COMPLETED"}, "operation": operation})

    def _end_stopped(self, job: FakeJob) -> None:
        if job.job_id in self._stops.savepoints and not self.savepoint_takes:
            job.state = "FINISHED"

    async def _cancel(self, request: web.Request) -> web.Response:
        self.end(self._job(request).job_id, "CANCELED")
        return web.json_response({}, status=202)

    async def _statistics(self, request: web.Request) -> web.Response:
        job_id = self._job(request).job_id
        path, at_ms = self._stops.savepoints.get(job_id, ("", 0))
        stopped = {"id": 90, "is_savepoint": True, "external_path": path, "trigger_timestamp": at_ms}
        told = {"savepoint": stopped if path and not self.savepoint_takes else None, **self._states_of(job_id)}
        counts = {"completed": self.completed.get(job_id, 0)}
        return web.json_response({"counts": counts, "latest": told if self.tells_checkpoints else {}})

    def _states_of(self, job_id: str) -> dict[str, Any]:
        """Give what a job began with, and what it has completed last."""
        begun, number = self.started.get(job_id), self.completed.get(job_id, 0)
        path = begun.body.get("savepointPath") if begun else None
        checkpoint = {"id": 10 + number, "is_savepoint": False, "external_path": f"file:/checkpoints/chk-{number}"}
        return {
            "restored": {"id": 10, "is_savepoint": True, "external_path": path} if path else None,
            "completed": checkpoint if number else None,
        }

    async def _checkpoints(self, request: web.Request) -> web.Response:
        self._job(request)
        kept = {"enabled": self.keeps_checkpoints, "delete_on_cancellation": not self.keeps_checkpoints}
        return web.json_response({**answers.checkpoint_config(10_000), "externalization": kept})
