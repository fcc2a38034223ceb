"""Looks at one source of a Flink job: whether its connector tells how much waits, and what it reads from."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from headgate.doctor.facts import SourceFacts
from headgate.doctor.looks.brokers import ask_brokers
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.gauges import read_aggregates
from headgate.engines.flink.names import SourceNames, choose_names
from headgate.engines.flink.numbers import number
from headgate.engines.flink.overview import read_names
from headgate.engines.flink.source import KnownNames, read_source
from headgate.errors import HeadgateError
from headgate.model.topology import Vertex
from headgate.ports import EndOffsets, JobContext

_KAFKA = ".KafkaSourceReader."
_LARGEST_FETCH = ".KafkaConsumer.fetch-size-max"


async def look_at_source(
    client: FlinkClient, ctx: JobContext, vertex: Vertex, offsets: EndOffsets
) -> SourceFacts | None:
    """Look at a source of a job; None where its metrics cannot be asked for."""
    path = f"/jobs/{ctx.job_id}/vertices/{vertex.id}"
    try:
        told = await client.get(f"{path}/subtasks/metrics", read_names)
        names = choose_names(told, offsets=True)
        return SourceFacts(
            name=vertex.name,
            parallelism=vertex.parallelism,
            tells_lag=names.tells_lag,
            lag=await _lag(client, path, names),
            partitions=names.partitions,
            kafka=any(_KAFKA in each for each in told),
            brokers=await ask_brokers(offsets, ctx, {topic for topic, _ in names.kafka.partitions}),
            brokers_unknown=bool(names.kafka) and not offsets.serves(ctx),
            largest_fetch=await _largest_fetch(client, path, told),
        )
    except HeadgateError:
        return None


async def _lag(client: FlinkClient, path: str, names: SourceNames) -> float | None:
    now = datetime.now(UTC)
    known = KnownNames(names=names, first_at=now, read_at=now)
    reading = await read_source(client, path, known=known, at=now, gauges=False) if names.tells_lag else None
    return reading.lag if reading else None


async def _largest_fetch(client: FlinkClient, path: str, names: Iterable[str]) -> float | None:
    wanted = next((name for name in sorted(names) if name.endswith(_LARGEST_FETCH)), None)
    if wanted is None:
        return None
    return await client.get(f"{path}/subtasks/metrics?get={quote(wanted)}&agg=max", _read_largest)


def _read_largest(answer: Any) -> float | None:
    return next((number(each.max) for each in read_aggregates(answer).values()), None)
