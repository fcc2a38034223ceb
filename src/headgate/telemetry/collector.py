"""From a reading of the board to metric families: nothing is kept from one scrape to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from headgate.telemetry import families
from headgate.telemetry.board import Board, Reading
from headgate.telemetry.families import Family
from headgate.telemetry.fleet import jobs, paused, vertices
from headgate.telemetry.labels import Labels, of_job
from headgate.telemetry.service import service
from headgate.telemetry.tallies import Durations


class FleetCollector(Collector):
    """Gives all metrics of the service, each scrape from one reading; can be registered with any registry."""

    def __init__(self, board: Board, *, per_vertex: bool = True) -> None:
        """Read this board, with or without what is known of each vertex."""
        self._board = board
        self._per_vertex = per_vertex

    def collect(self) -> Iterator[Metric]:
        """Give every family, the ones without a series too."""
        reading = self._board.read()
        yield from jobs(reading.standings)
        yield from _counters(reading)
        yield from _clusters(reading)
        yield from _ticks(reading)
        yield from service(reading)
        if self._per_vertex:
            yield from vertices(reading.standings)


def _counters(reading: Reading) -> Iterator[Metric]:
    counted = [(of_job(job), counts) for job, counts in reading.counts.items()]
    yield families.SCALINGS.of((labels, counts.scalings) for labels, counts in counted)
    yield families.ADVICE.of((labels, counts.advice) for labels, counts in counted)
    yield families.BALANCED.of((labels, counts.balanced) for labels, counts in counted)
    yield families.ERRORS.of((labels, counts.errors) for labels, counts in counted)
    yield families.DECISIONS.of(
        (Labels(cluster=cluster, outcome=outcome, reason=reason), count)
        for (cluster, outcome, reason), count in reading.decisions.items()
    )
    yield families.EVENTS.of(
        (Labels(reason=reason, type=kind), count) for (reason, kind), count in reading.events.items()
    )


def _clusters(reading: Reading) -> Iterator[Metric]:
    seen = [(Labels(cluster=cluster), view) for cluster, view in reading.clusters.items()]
    yield families.REACHABLE.of((labels, view.reachable) for labels, view in seen)
    yield families.CLUSTER_JOBS.of((labels, view.jobs) for labels, view in seen)
    yield families.CLUSTER_PAUSED.of((Labels(cluster=cluster), jobs) for cluster, jobs in paused(reading.standings))
    signs = reading.signs
    ages = [(cluster, signs.at - one.newest) for cluster, one in signs.clusters.items() if one.newest]
    yield families.SAMPLE_AGE.of((Labels(cluster=cluster), age.total_seconds()) for cluster, age in ages)


def _ticks(reading: Reading) -> Iterator[Metric]:
    known = [(Labels(tick=work.name.lower()), ticks) for work, ticks in reading.ticks.items()]
    yield families.TICK_LAST_SECONDS.of((labels, ticks.last.took.total_seconds()) for labels, ticks in known)
    yield families.TICK_LATE_SECONDS.of((labels, ticks.last.late.total_seconds()) for labels, ticks in known)
    yield families.TICK_LAST_AT.of((labels, ticks.last.at.timestamp()) for labels, ticks in known)
    yield families.TICK_FAILURES.of((labels, ticks.failures) for labels, ticks in known)
    yield _histogram(families.TICK_SECONDS, ((labels, ticks.durations) for labels, ticks in known))
    phases = ((Labels(phase=phase), durations) for phase, durations in reading.phases.items())
    yield _histogram(families.PHASE_SECONDS, phases)


def _histogram(family: Family, series: Iterable[tuple[Labels, Durations]]) -> Metric:
    return family.sampled(each for labels, durations in series for each in _buckets(family.name, labels, durations))


def _buckets(name: str, labels: Labels, durations: Durations) -> Iterator[Sample]:
    for bound, count in durations.cumulated():
        yield Sample(f"{name}_bucket", Labels(**labels, le=bound), count)
    yield Sample(f"{name}_count", labels, sum(durations.buckets))
    yield Sample(f"{name}_sum", labels, durations.total_s)
