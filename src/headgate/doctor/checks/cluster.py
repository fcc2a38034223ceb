"""Whether a cluster answers, lets Headgate in, tells what it must, and has room for growth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from headgate.doctor.facts import Clock, ClusterFacts
from headgate.doctor.findings import Finding, broken, doubtful, fine, span
from headgate.engines.flink.failures import ForbiddenError, UnauthorizedError
from headgate.errors import HeadgateError

_SKEW = timedelta(seconds=5)
"""By which clocks may differ: `stabilization.interval` and the age of samples are counted in minutes."""
_FINEST = timedelta(milliseconds=100)
"""What is told of a difference."""
_SLOW = timedelta(seconds=2)
_VERSION = re.compile(r"(\d+)\.(\d+)")
_OLDEST = (1, 18)
_CREDENTIALS = "`token-file`, `headers` or `client-certificate` of the cluster (secrets as `${file:PATH}`)"

_NO_JOBMANAGER = "see whether the JobManager runs, and whether `url` is its REST address (`rest.port`, 8081 by default)"
_NOBODY = "see whether it runs, and whether its address and what opens it are right"


def check_cluster(facts: ClusterFacts) -> Iterator[Finding]:
    """Check one cluster; of one that does not answer there is nothing more to say."""
    if facts.failure is not None:
        yield unreached(facts.failure, flink=facts.flink)
        return
    yield _reached(facts)
    if not facts.flink:
        return
    yield from _version(facts)
    yield from _listing(facts)
    yield from _settings(facts)
    yield from _slots(facts)
    yield from _clock(facts)
    yield from _prometheus(facts)


def unreached(failure: HeadgateError, *, flink: bool) -> Finding:
    """Say why a cluster cannot be looked at, and what to do about it."""
    why = "its jobs are neither seen nor scaled"
    if isinstance(failure, UnauthorizedError):
        return broken("credentials", str(failure), why=why, remedy=f"give credentials, or others: {_CREDENTIALS}")
    if isinstance(failure, ForbiddenError):
        remedy = f"the credentials are known and not allowed in: widen their rights, or give others in {_CREDENTIALS}"
        return broken("credentials", str(failure), why=why, remedy=remedy)
    if "CERTIFICATE" in str(failure).upper():
        remedy = "set `ca-file` to the certificate that the cluster's is signed with"
        return broken("TLS", str(failure), why=why, remedy=remedy)
    return broken("reachable", str(failure), why=why, remedy=_NO_JOBMANAGER if flink else _NOBODY)


def _reached(facts: ClusterFacts) -> Finding:
    jobs = f"{len(facts.jobs)} job{'' if len(facts.jobs) == 1 else 's'}"
    if facts.answered_in is None:
        return fine("reachable", f"it answers; {jobs}, not looked into")
    seen = f"Flink {facts.version or 'of unknown version'} answers in {span(facts.answered_in)}; {jobs}"
    if facts.answered_in < _SLOW:
        return fine("reachable", seen)
    why = "each job takes some calls a tick, and a slow JobManager makes samples late"
    return doubtful("reachable", seen, why=why, remedy="look at the JobManager's load and at what stands before it")


def _version(facts: ClusterFacts) -> Iterator[Finding]:
    found = _VERSION.match(facts.version or "")
    if found and (int(found[1]), int(found[2])) < _OLDEST:
        yield doubtful(
            "version",
            f"Flink {facts.version}",
            why="parallelism changes in place from Flink 1.18 on, and some metrics are younger too",
            remedy="upgrade Flink, or let Headgate replace jobs from a savepoint",
        )


def _listing(facts: ClusterFacts) -> Iterator[Finding]:
    if facts.listed is not None:
        why = "no job is seen"
        yield broken("jobs", facts.listed, why=why, remedy="allow GET /jobs/overview to these credentials")
    elif not facts.jobs:
        remedy = "submit one, or look whether this is the right cluster"
        yield doubtful("jobs", "no job runs there", why="there is nothing to look after", remedy=remedy)


def _settings(facts: ClusterFacts) -> Iterator[Finding]:
    if facts.config is None:
        yield doubtful(
            "settings",
            "GET /jobmanager/config is not answered",
            why="Headgate takes Flink's defaults for scheduler, cooldown and memory, which may not be so",
            remedy="allow GET /jobmanager/config to these credentials",
        )


def _slots(facts: ClusterFacts) -> Iterator[Finding]:
    if facts.slots is None:
        return
    seen = f"{facts.slots.free} of {facts.slots.total} free; TaskManagers: {facts.workers}"
    if facts.on_demand:
        yield fine("free slots", f"{seen}; further TaskManagers are started on demand")
    elif any(job.settings.reactive for job in facts.jobs):
        yield fine("free slots", f"{seen}; in reactive mode Flink takes all that there are")
    elif facts.slots.free > 0:
        yield fine("free slots", seen)
    else:
        yield doubtful(
            "free slots",
            seen,
            why="a job that needs more cannot get it, and Headgate reports a parallelism that was not reached",
            remedy="add TaskManagers, or let Headgate do that: `workers` of the cluster, see add-and-remove-workers",
        )


def _clock(facts: ClusterFacts) -> Iterator[Finding]:
    clocks = [job.clock for job in facts.jobs if job.clock is not None]
    if not clocks:
        return
    clock = min(clocks, key=lambda clock: clock.doubt)
    if abs(clock.ahead) <= _SKEW + clock.doubt:
        yield fine("clock", f"in step with ours, within {span(max(abs(clock.ahead) + clock.doubt, _FINEST))}")
    else:
        yield doubtful(
            "clock",
            _difference(clock),
            why="`stabilization.interval` is counted from a job's start by the JobManager's clock",
            remedy="keep both machines on NTP",
        )


def _difference(clock: Clock) -> str:
    side = "ahead of" if clock.ahead > timedelta() else "behind"
    return f"the JobManager's is {span(abs(clock.ahead))} {side} ours (give or take {span(max(clock.doubt, _FINEST))})"


def _prometheus(facts: ClusterFacts) -> Iterator[Finding]:
    if facts.prometheus is None:
        return
    if facts.prometheus.fault is None:
        yield fine("Prometheus", facts.prometheus.told)
    else:
        remedy = "correct `prometheus.url` of the cluster, or leave it out to read metrics from Flink's REST"
        yield broken("Prometheus", facts.prometheus.fault, why="the metrics of its jobs are read there", remedy=remedy)
