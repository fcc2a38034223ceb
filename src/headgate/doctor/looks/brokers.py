"""Asks the Kafka clusters that are declared for a job where its topics end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from headgate.doctor.facts import Tried
from headgate.errors import HeadgateError
from headgate.kafka.offsets import KafkaEndOffsets
from headgate.options.service import ServiceOptions
from headgate.ports import EndOffsets, JobContext, Missing


@asynccontextmanager
async def brokers_of(options: ServiceOptions) -> AsyncIterator[EndOffsets]:
    """
    Give what asks all declared clusters.

    Raises:
        ConfigError: their driver is not installed.
    """
    offsets = KafkaEndOffsets(options.kafka_clusters, lambda _: None, patient=True)
    try:
        yield offsets
    finally:
        await offsets.close()


async def ask_brokers(offsets: EndOffsets, ctx: JobContext, topics: Collection[str]) -> Tried | None:
    """Try to learn where topics end; None where no cluster is declared for the job, or nothing is read."""
    if not topics or not offsets.serves(ctx):
        return None
    try:
        ends = await offsets.read(ctx, topics, datetime.now(UTC))
    except HeadgateError as error:
        return Tried(fault=str(error))
    if isinstance(ends, Missing):
        return Tried(fault=ends.why)
    return Tried(told=f"the brokers tell where {len(ends)} partitions of {', '.join(sorted(topics))} end")
