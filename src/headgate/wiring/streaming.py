"""Samples by way of Kafka: what sends them, and what receives them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import structlog

from headgate.control import reports
from headgate.control.received import KeptAlready, ReceivedCollector
from headgate.errors import UnreachableError
from headgate.options.service import Pipeline, Place, ServiceOptions
from headgate.ports import EventHandler, FleetEvaluator, MetricCollector, SampleSink
from headgate.samplelog.files import root_of
from headgate.samplelog.receiving import Receiver
from headgate.samplelog.sending import KafkaSampleSink, open_sink

if TYPE_CHECKING:
    from headgate.pipeline.stream import SampleStream

_LAST_CALL = timedelta(seconds=5)
"""How long a process that ends waits for what it has sent."""

_log = structlog.get_logger("headgate")


def collecting_only(options: ServiceOptions) -> ServiceOptions:
    """Give the options as they are where samples are sent away: nothing is decided, so nothing need be remembered."""
    if not options.samples.sent_away:
        return options
    pipeline = Pipeline.IN_PROCESS if options.collect_on is Place.SERVICE else options.pipeline
    return replace(options, state_store="memory", pipeline=pipeline)


def open_detour(options: ServiceOptions, stack: AsyncExitStack) -> SampleSink | None:
    """
    Give what takes samples that pass through Kafka, before it or behind it; None for those that do not.

    Raises:
        ConfigError: there is no driver, no such secret or no such setting.
    """
    if options.samples.received:
        return KeptAlready()
    if not options.samples.sent_away:
        return None
    sink = open_sink(options.samples.kafka)
    stack.push_async_callback(asyncio.to_thread, _close, sink)
    return sink


def _close(sink: KafkaSampleSink) -> None:
    try:
        sink.close(_LAST_CALL)
    except UnreachableError as error:
        _log.warning("samples lost", message=str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inflow:
    """What receives samples."""

    receiver: Receiver
    stream: SampleStream

    def over(self, session: Any, evaluator: FleetEvaluator) -> FleetEvaluator:
        """Give an evaluator before whose evaluations it is seen to it that samples come in."""
        from headgate.pipeline.stream import StreamedEvaluator  # noqa: PLC0415

        return StreamedEvaluator(self.stream, session, evaluator)

    def collector(self, engine: MetricCollector, now: Callable[[], ServiceOptions]) -> MetricCollector:
        """Give a collector of what has been received."""
        return ReceivedCollector(self.receiver, engine, interval=lambda: now().collect_interval)


def open_inflow(options: ServiceOptions, told: EventHandler) -> Inflow | None:
    """Give what receives samples, for whoever opens Spark to close; None where this process collects them."""
    if not options.samples.received:
        return None
    from headgate.pipeline.stream import SampleStream  # noqa: PLC0415

    def tell(why: str) -> None:
        told.handle(reports.fleet_error("samples were not received", why, datetime.now(UTC)))

    receiver = Receiver(root_of(options.log), refused=tell)
    # Half a tick, so that a sample that misses one batch is not a whole tick late.
    stream = SampleStream(options.samples.kafka, receiver, pace=options.collect_interval / 2, failed=tell)
    return Inflow(receiver=receiver, stream=stream)
