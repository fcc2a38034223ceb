"""
Writes a first `headgate.yaml` for clusters that were looked at: whole, valid, and explained line by line.

What a cluster tells of itself, names of jobs above all, is somebody else's text: it stands in comments only, and
cannot end one.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from headgate.algorithm.lag import BROKERS_UNKNOWN
from headgate.doctor.checks.pace import FEWEST_SAMPLES
from headgate.doctor.facts import ClusterFacts, JobFacts
from headgate.doctor.findings import seconds
from headgate.doctor.naming import address_of, variable_of
from headgate.model.identity import JobKey
from headgate.model.printable import quoted
from headgate.options.kafka import example
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.options.units import format_duration

_MINUTE, _LONGEST = timedelta(minutes=1), timedelta(hours=1)
_NOTES_AT = 44
"""Column in which explanations begin."""
_MOST_JOBS = 40
"""Jobs that stand in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A cluster, and what was seen of it."""

    options: ClusterOptions
    facts: ClusterFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Intervals that fit a cluster."""

    collect: timedelta
    decide: timedelta
    window: timedelta
    stabilization: timedelta


def draft(seen: Sequence[Seen], *, at: datetime) -> str:
    """Write the file."""
    pace = pace_for(seen)
    parts = (
        _heading(seen, at),
        _mode(),
        ("clusters:", *(line for each in seen for line in _cluster(each))),
        *((tuple(_brokers(jobs)),) if (jobs := without_brokers(seen)) else ()),
        _service(pace),
        _options(pace, seen),
        _jobs(seen),
    )
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def without_brokers(seen: Iterable[Seen]) -> tuple[JobKey, ...]:
    """Return the jobs that read Kafka, whose brokers nobody but their owner knows."""
    jobs = (job for each in seen for job in each.facts.jobs)
    return tuple(job.job.key for job in jobs if any(source.brokers_unknown for source in job.sources))


def pace_for(seen: Iterable[Seen]) -> Pace:
    """
    Give the defaults, lengthened where clusters fetch metrics, checkpoint or change seldomer than those expect.

    What a cluster makes wait for longer than an hour is left to the doctor to complain of.
    """
    clusters = tuple(seen)
    usual = ServiceOptions(clusters=tuple(each.options for each in clusters))
    settings = [job.settings for each in clusters for job in each.facts.jobs]
    collect = max([usual.collect_interval, *(_whole(each.metric_refresh_s) for each in settings)])
    checkpoints = [min(_whole(each.checkpoint_interval_s or 0), _LONGEST) for each in settings]
    waits = [min(_whole(each.rescale_cooldown_s + each.resource_stabilization_s), _LONGEST) for each in settings]
    return Pace(
        collect=collect,
        decide=max(usual.decide_interval, collect),
        window=_minutes(max([usual.autoscaler.metrics_window, FEWEST_SAMPLES * collect, *checkpoints])),
        stabilization=_minutes(max([usual.autoscaler.stabilization_interval, *waits])),
    )


def _whole(value_s: float) -> timedelta:
    return timedelta(seconds=-(-value_s // 1))


def _minutes(duration: timedelta) -> timedelta:
    return -(-duration // _MINUTE) * _MINUTE


def _noted(setting: str, note: str) -> str:
    return f"{setting:<{_NOTES_AT - 2}}  # {note}"


def _heading(seen: Sequence[Seen], at: datetime) -> Iterator[str]:
    keys = (str(job.job.key) for each in seen for job in each.facts.jobs)
    first = next((shlex.quote(key) for key in keys if key.isprintable()), f"{seen[0].options.name}/JOB")
    yield f"# Headgate's options, written by `headgate init` at {at:%Y-%m-%d %H:%M} UTC. Correct what you know better."
    yield "#"
    yield "# What to do next, in this order:"
    yield _noted("#   headgate doctor", "what is fit, what is not, and what to do about it")
    yield _noted(
        f"#   headgate advise {address_of(seen[0].options)}", "half a minute's look: what would be done, and why"
    )
    yield _noted("#   headgate run", "goes on like that; it changes nothing while `mode` is advise")
    yield _noted(f"#   headgate explain {first}", "the last decision about a job, step by step")
    yield _noted("#   headgate config check", "every option in force, and where it is set")


def _mode() -> Iterator[str]:
    yield _noted("mode: advise", "says what it would do; `act` does it. Read the advice for a day first")


def _cluster(seen: Seen) -> Iterator[str]:
    options, variable = seen.options, variable_of(seen.options)
    yield f"  # {_described(seen.facts)}"
    yield _noted(f"  - name: {quoted(options.name)}", "stands in the keys of its jobs, which history is kept under")
    yield f"    url: {quoted(address_of(options))}"
    if variable:
        yield f"    # The password is read from the environment: export {variable}=..."
    for key, path in (("token-file", options.token_file), ("ca-file", options.ca_file)):
        if path is not None:
            yield f"    {key}: {quoted(str(path))}"
    if options.token_file is None and variable is None:
        yield _noted(
            "    # token-file: /path/to/token", "where it wants credentials; see docs/how-to/connect-a-cluster.md"
        )
    if not seen.facts.on_demand:
        yield _noted(
            "    # workers.provider: our-pods", "where Headgate may add TaskManagers; see add-and-remove-workers.md"
        )


def _described(facts: ClusterFacts) -> str:
    slots = f"{facts.slots.total} slots, {facts.slots.free} of them free" if facts.slots else "slots unknown"
    workers = f"{facts.workers} TaskManager{'' if facts.workers == 1 else 's'}"
    return f"Flink {quoted(facts.version or 'of unknown version')}, {workers}, {slots}"


def _brokers(jobs: Sequence[JobKey]) -> Iterator[str]:
    for job in jobs[:_MOST_JOBS]:
        yield f"# {quoted(str(job))} {BROKERS_UNKNOWN}."
    yield "# What waits is what the connector says, which may be 0 while thousands of records wait. Fill in the"
    yield "# addresses of the brokers, and Headgate asks them; see docs/how-to/read-from-kafka.md."
    yield f"# {example(jobs)}"


def _service(pace: Pace) -> Iterator[str]:
    yield _noted(f"collect.interval: {format_duration(pace.collect)}", "how often samples are taken")
    yield _noted(f"decide.interval: {format_duration(pace.decide)}", "how often each job is decided about")
    yield _noted("# headgate.reaction: windowed", "at the pace of Flink's own autoscaler: minutes, not seconds")
    yield ""
    yield _noted("pipeline: spark", "samples are kept as Parquet, and reduced by Spark")
    yield _noted("# pipeline: in-process", "for a few jobs: no Java, no Spark, no samples kept over a restart")
    yield _noted("log.path: headgate-log", "samples and decisions of the last 7 d, see log.retention")
    yield _noted(
        "state-store: sqlite:///headgate.db", "history, and what is under way; or a database: postgresql://..."
    )
    yield _noted("events.handlers: log,sql", "sql keeps them for `headgate history` and `events`; or a webhook, ...")
    yield _noted("# metrics.address: 127.0.0.1:9464", "for Prometheus and probes; another where that one is taken")


def _options(pace: Pace, seen: Sequence[Seen]) -> Iterator[str]:
    settling, window = format_duration(pace.stabilization), format_duration(pace.window)
    yield "# Options of all jobs. A job's own configuration may hold the same keys, and outweighs these."
    yield "job.autoscaler:"
    yield _noted(f"  stabilization.interval: {settling}", "after a job's start, before its samples count")
    yield _noted(f"  metrics.window: {window}", "over which is measured what a job can do, and how steady its load is")
    yield _noted("  utilization.target: 0.7", "share of time that a vertex should be busy")
    yield _noted("  # restart.time: 5 min", "how long a rescale is taken to stop a job, until some were seen")
    yield _noted("  # sla.max-lag-time: 10 min", "an agreement: how far behind a job may be")
    for each in seen:
        yield from _implied(each.facts)


def _implied(facts: ClusterFacts) -> Iterator[str]:
    """Say what a cluster's own settings mean for the options."""
    if facts.slots and not facts.on_demand:
        most = max(facts.slots.total, 1)
        yield _noted(f"  # vertex.max-parallelism: {most}", f"{facts.name} has no more slots; 200 unless set")
    settings = [job.settings for job in facts.jobs if job.now is not None]
    if any(not each.adaptive and not each.reactive for each in settings):
        yield f"  # On {facts.name} Headgate can only advise: a scheduler there cannot change parallelism in place."
        yield "  # Start it with `jobmanager.scheduler: adaptive`, or let Headgate replace jobs, from a savepoint:"
        yield _noted("  # scaling.realizer.class: savepoint-redeploy", "see docs/how-to/redeploy.md")
    elif any(each.reactive for each in settings):
        yield f"  # {facts.name} is in reactive mode: Flink takes every slot, and a job grows with the TaskManagers;"
        yield "  # see docs/explanation/elastic-scaling.md."
    elif settings:
        cooldown, waiting = seconds(settings[0].rescale_cooldown_s), seconds(settings[0].resource_stabilization_s)
        yield f"  # {facts.name} changes parallelism in place; its own cooldown is {cooldown}, its wait for slots"
        yield f"  # {waiting}: no option of Headgate's makes a change quicker than these do."


def _jobs(seen: Sequence[Seen]) -> Iterator[str]:
    jobs = [(job, each.facts) for each in seen for job in each.facts.jobs]
    yield "# Options of some jobs, over the general ones; `*` and `?` may stand in `match`, later entries win."
    yield _noted("# jobs:", "these run now" if jobs else "none runs now")
    for job, cluster in jobs[:_MOST_JOBS]:
        yield f"#   - match: {quoted(str(job.job.key))}"
        yield _noted(f"#     autoscaler: {{vertex.max-parallelism: {_largest(job, cluster)}}}", _running(job))
    if len(jobs) > _MOST_JOBS:
        yield f"# ... and {len(jobs) - _MOST_JOBS} more: `headgate jobs` lists them all"
    if not jobs:
        yield '#   - match: "*/my-job"'
        yield "#     autoscaler: {vertex.max-parallelism: 8}"


def _largest(job: JobFacts, cluster: ClusterFacts) -> int:
    """Give the largest parallelism that any vertex of a job could have there."""
    bound = job.job.options.max_parallelism
    if cluster.slots and not cluster.on_demand:
        bound = min(bound, max(cluster.slots.total, 1))
    return max((min(vertex.max_parallelism, bound) for vertex in job.graph), default=bound)


def _running(facts: JobFacts) -> str:
    if not facts.graph:
        return f"{facts.job.status}, not looked into"
    sizes = [vertex.parallelism for vertex in facts.graph]
    interval_s = facts.settings.checkpoint_interval_s
    checkpoints = f"a checkpoint every {seconds(interval_s)}" if interval_s else "no checkpoints"
    count = f"{len(sizes)} {'vertex' if len(sizes) == 1 else 'vertices'}"
    return f"{facts.job.status}, {count} at parallelism {min(sizes)} to {max(sizes)}, {checkpoints}"
