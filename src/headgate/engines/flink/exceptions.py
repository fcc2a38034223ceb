"""Reads the failures of a job from Flink's exception history, which keeps the latest ones of a submission."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.numbers import instant
from headgate.engines.flink.overview import read_values
from headgate.model.rollback import JobFailure, JobFailures
from headgate.ports import JobContext

_MOST = 100
"""More than Flink keeps: 16 unless `web.exception-history-size` says otherwise."""
_LONGEST_LINE = 500
_RESTARTS = ("numRestarts", "fullRestarts")
"""The second one is an older name of the first."""
_CAUSE = "Caused by: "


class FlinkFailureHistory:
    """Asks for the failures of jobs on any number of clusters. Implements `headgate.ports.FailureHistory`."""

    def __init__(self, clients: Mapping[str, FlinkClient]) -> None:
        """
        Ask nothing yet.

        Args:
            clients: the clusters by name; whoever made them closes them.
        """
        self._clients = clients

    async def query_failures(self, ctx: JobContext, since: datetime, /) -> JobFailures:
        """
        Give the failures since an instant by Flink's clock, and how often Flink counts that the job was restarted.

        Rescales are restarts, in Flink's eyes, and no failures. Of a cluster that is not one of these nothing is known.
        """
        client = self._clients.get(ctx.key.cluster)
        if client is None:
            return JobFailures()
        failures, restarts = await asyncio.gather(
            client.get(f"/jobs/{ctx.job_id}/exceptions?maxExceptions={_MOST}", read_failures),
            client.get(f"/jobs/{ctx.job_id}/metrics?get={','.join(_RESTARTS)}", read_restarts),
        )
        return JobFailures(failures=tuple(each for each in failures if each.at >= since), restarts=restarts)


def read_failures(answer: Any) -> tuple[JobFailure, ...]:
    """Read `/jobs/:id/exceptions`, which has the latest failure first."""
    entries = answer["exceptionHistory"]["entries"]
    failures = [JobFailure(at=instant(entry["timestamp"]), text="\n".join(_lines(entry))) for entry in entries]
    return tuple(sorted(failures, key=lambda failure: failure.at))


def read_restarts(answer: Any) -> int | None:
    """Read how often a job was restarted from its metrics; None when Flink does not tell."""
    values = read_values(answer)
    known = (value for name in _RESTARTS if (value := values.get(name)) is not None)
    return next(map(int, known), None)


def without_frames(stacktrace: str) -> tuple[str, ...]:
    """Give the exception and its causes, one line each, cut at 500 characters; a message's further lines are joined."""
    found: list[str] = []
    for line in stacktrace.splitlines():
        if not line or line[0].isspace():
            continue  # a frame, or something suppressed
        if line.startswith(_CAUSE) or not found:
            found.append(line)
        else:
            found[-1] += f" {line}"
    return tuple(line[:_LONGEST_LINE] for line in found)


def _lines(entry: Mapping[str, Any]) -> Iterator[str]:
    """Give what an entry tells, then what failed together with it: which of them came first is chance."""
    yield from without_frames(entry.get("stacktrace") or "") or (entry["exceptionName"],)
    for other in entry.get("concurrentExceptions") or ():
        yield from _lines(other)
