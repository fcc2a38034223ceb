"""One job on one cluster, as Flink itself tells of it; nothing of what Headgate measures is used."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from benchmarks.reaction_flink_figures import Look
from benchmarks.reaction_flink_setting import SETTING, VERTICES, Sizes
from headgate.demo.loadjob import SOURCE
from headgate.errors import NotFoundError, UnreachableError
from headgate.rescales.rest import Rest, await_value

POLL_S = 0.1
_PENDING = f"Source__{SOURCE}.pendingRecords"
_LAG_EVERY_S = 0.5
"""The least time after which a look is kept for its lag alone; Flink has a new one each second."""

_SAME_LAG = 2 * SETTING.partitions
"""Records by which a backlog may differ without being another one."""


class Job:
    """Looks at a job, and can ask for other sizes."""

    def __init__(self, rest: Rest, job_id: str) -> None:
        """Wait until all of it runs."""
        self._rest, self._path = rest, f"/jobs/{job_id}"
        answer = await_value(lambda: _running(self._rest.get(self._path)), "the job's tasks")
        self._ids = {name: vertex["id"] for name, vertex in _by_name(answer).items()}
        self._known = Look(at_s=0.0, asked=self._asked(), ran=_sizes(answer), runs=True, lag=0)

    def ask(self, sizes: Sizes) -> None:
        """Ask for these sizes, which the engine may take for as many as it has slots for."""
        bounds = {
            self._ids[name]: {"parallelism": {"lowerBound": 1, "upperBound": size}}
            for name, size in zip(VERTICES, sizes, strict=True)
        }
        self._rest.send("PUT", f"{self._path}/resource-requirements", bounds)

    def await_sizes(self, sizes: Sizes) -> None:
        """Wait until these sizes run."""
        await_value(lambda: self.look(datetime.now(UTC)).ran == sizes or None, f"the sizes {sizes}")

    def follow(self, since: datetime, over: Callable[[list[Look]], bool], *, poll_s: float = POLL_S) -> list[Look]:
        """
        Look until it is over, and give the first and the last look, and every one that differed from the one before.

        Args:
            since: instant from which the looks count their time.
            over: is told of what was seen so far at every look.
            poll_s: between two looks.
        """
        kept: list[Look] = []
        while True:
            look = self.look(since)
            if kept and not _tells_more(look, kept[-1]):
                seen = [*kept, look]
            else:
                seen = kept = [*kept, look]
            if over(seen):
                return seen
            time.sleep(poll_s)

    def look(self, since: datetime) -> Look:
        """Look once; where Flink does not answer, as it may not while a job changes, what was known holds."""
        known = self._known
        with suppress(UnreachableError, NotFoundError):
            answer = self._rest.get(self._path)
            asked, lag, runs = self._asked(), self._lag(), _running(answer) is not None
            ran = _sizes(answer) if runs else known.ran
            known = replace(known, asked=asked, ran=ran, runs=runs, lag=known.lag if lag is None else lag)
        # The time is told last, so that nothing is said to have been so earlier than it was.
        self._known = replace(known, at_s=round((datetime.now(UTC) - since).total_seconds(), 2))
        return self._known

    def _asked(self) -> Sizes:
        bounds = self._rest.get(f"{self._path}/resource-requirements")
        return tuple(int(bounds[self._ids[name]]["parallelism"]["upperBound"]) for name in VERTICES)

    def _lag(self) -> int | None:
        """Give the backlog; None while the source does not tell."""
        told = self._rest.get(f"{self._path}/vertices/{self._ids[SOURCE]}/subtasks/metrics?agg=sum&get={_PENDING}")
        return round(float(told[0]["sum"])) if told else None


def _tells_more(look: Look, than: Look) -> bool:
    """Tell whether a look is worth keeping."""
    moved = (look.asked, look.ran, look.runs) != (than.asked, than.ran, than.runs)
    waits = abs(look.lag - than.lag) > _SAME_LAG and look.at_s - than.at_s >= _LAG_EVERY_S
    return moved or waits


def _running(job: Any) -> Any | None:
    """Give the job if all of it runs."""
    return job if job["vertices"] and {each["status"] for each in job["vertices"]} == {"RUNNING"} else None


def _sizes(job: Any) -> Sizes:
    vertices = _by_name(job)
    return tuple(int(vertices[name]["parallelism"]) for name in VERTICES)


def _by_name(job: Any) -> dict[str, Any]:
    """Tell vertices by the operator's own name: Flink says `Source: source` and `sink: Writer`."""
    return {each["name"].removeprefix("Source: ").removesuffix(": Writer"): each for each in job["vertices"]}
