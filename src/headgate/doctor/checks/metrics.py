"""Whether a job's metrics tell what a decision needs: what waits before each source, and who is how busy."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.algorithm.lag import BROKERS_UNKNOWN
from headgate.doctor.facts import JobFacts, SourceFacts, Tried
from headgate.doctor.findings import Finding, doubtful, fine
from headgate.model.identity import JobKey
from headgate.options.kafka import example

_AHEAD = 256 * 2**10
"""Bytes of a fetch from which a Kafka consumer reads so far ahead that what waits is hidden."""
_KIB = 2**10
_HIDDEN = (
    "Kafka's consumer knows what waits as of its last fetch, and with default sizes fetches a long way ahead: "
    "pendingRecords may stay at 0 while thousands wait"
)
_FETCH_LESS = "set the source's property `max.partition.fetch.bytes` (8192, say) or `fetch.max.bytes` (65536)"


def check_lag(facts: JobFacts) -> Iterator[Finding]:
    """Check each source's `pendingRecords`: with it Headgate knows that a job is behind, and by how much."""
    for name in facts.unread:
        remedy = "run the doctor again; right after a start metrics are not there yet"
        yield doubtful(f"lag of {name}", "its metrics are not answered", why="lag and rates are unknown", remedy=remedy)
    yield from (_lag(source, facts.job.key) for source in facts.sources)


def _lag(source: SourceFacts, job: JobKey) -> Finding:
    if source.brokers is not None:
        return _of_brokers(source, source.brokers)
    if source.brokers_unknown:
        return _without_brokers(source, job)
    if not source.tells_lag:
        return _silent(source)
    return _of_kafka(source) if source.kafka else fine(f"lag of {source.name}", _pending(source))


def _without_brokers(source: SourceFacts, job: JobKey) -> Finding:
    """Warn also while fetches are small: those of a source that is not behind always are."""
    told = f"{_pending(source)}; {_fetched(source)}" if source.tells_lag else "it has no pendingRecords yet"
    remedy = f"add `{example([job])}` with their addresses to headgate.yaml; or {_FETCH_LESS}"
    return doubtful(f"lag of {source.name}", f"{BROKERS_UNKNOWN}; {told}", why=_HIDDEN, remedy=remedy)


def _of_brokers(source: SourceFacts, brokers: Tried) -> Finding:
    check = f"lag of {source.name}"
    if brokers.fault is None:
        return fine(check, brokers.told)
    why = "what waits is taken from the connector, which hides it: nothing shrinks while the source never idles"
    remedy = "see to it that the cluster in `kafka-clusters` answers, has the topic, and lets us describe it"
    return doubtful(check, brokers.fault, why=why, remedy=remedy)


def _silent(source: SourceFacts) -> Finding:
    remedy = (
        "look again once it has read a first record: Kafka's connector registers it then"
        if source.kafka
        else "use a connector that has it, or declare the lag as an external metric: see external-metrics"
    )
    return doubtful(
        f"lag of {source.name}",
        "it has no pendingRecords",
        why="being behind shows only in a source that never idles, so growth comes later and shrinking is held back",
        remedy=remedy,
    )


def _of_kafka(source: SourceFacts) -> Finding:
    """Tell the gauge's weakness: it counts what waits as of the last fetch, and a large fetch is seldom."""
    check, seen = f"lag of {source.name}", f"{_pending(source)}; {_fetched(source)}"
    if source.largest_fetch is not None and source.largest_fetch < _AHEAD:
        return fine(check, seen)
    return doubtful(check, seen, why=_HIDDEN, remedy=_FETCH_LESS)


def _pending(source: SourceFacts) -> str:
    return f"pendingRecords: {'unknown for now' if source.lag is None else f'{source.lag:,.0f} now'}"


def _fetched(source: SourceFacts) -> str:
    fetched = "unknown" if source.largest_fetch is None else f"{source.largest_fetch / _KIB:,.0f} KiB"
    return f"largest fetch lately: {fetched}"


def check_partitions(facts: JobFacts) -> Iterator[Finding]:
    """Check whether each source says what it reads from: more subtasks than that would have nothing to do."""
    for source in facts.sources:
        if source.partitions is None:
            yield _without_partitions(source)
        elif source.parallelism >= source.partitions:
            yield _all_read(source)
        else:
            yield fine(f"partitions of {source.name}", f"{source.partitions}, read by {source.parallelism}")


def _without_partitions(source: SourceFacts) -> Finding:
    check, seen = f"partitions of {source.name}", "its metrics name none"
    if not source.kafka:
        return fine(check, f"{seen}: only its max parallelism bounds it")
    why = "it might be given more subtasks than there are partitions, which would be idle"
    return doubtful(check, seen, why=why, remedy="look again once it has read a first record of each")


def _all_read(source: SourceFacts) -> Finding:
    return doubtful(
        f"partitions of {source.name}",
        f"{source.partitions}, read by {source.parallelism}",
        why="a source never grows above its partitions",
        remedy="add partitions, where this source is what holds the job back",
    )


def check_busy_time(facts: JobFacts) -> Iterator[Finding]:
    """Check whether every vertex counts how long it is busy: true rates follow from that."""
    if facts.without_busy_time:
        yield doubtful(
            "busy time",
            f"{', '.join(facts.without_busy_time)} cannot tell it",
            why="what such a vertex could do at most is not known: it is scaled by its lag at best, or not at all",
            remedy="replace a legacy SourceFunction by a new source; use Flink 1.18 or later",
        )
    elif facts.graph:
        yield fine("busy time", f"told by {'its' if len(facts.graph) == 1 else 'all'} {_vertices(len(facts.graph))}")


def check_chaining(facts: JobFacts) -> Iterator[Finding]:
    """Check whether there is more than one vertex to scale: operators in one chain scale as one."""
    if len(facts.graph) == 1 and facts.sources:
        yield doubtful(
            "chaining",
            f"all its operators are one vertex, {facts.graph[0].name}",
            why="source and work have one parallelism, which the source's partitions bound",
            remedy="set a hard step apart: keyBy() or rebalance(), or disableChaining() before it",
        )


def _vertices(count: int) -> str:
    return "one vertex" if count == 1 else f"{count} vertices"
