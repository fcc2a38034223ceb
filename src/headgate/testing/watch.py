"""Takes samples of one job of a fake Flink, moving its clock and the collector's ticks together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.collector import FlinkMetricCollector
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.samples import JobSample
from headgate.options.autoscaler import AutoscalerOptions, BusyTimeAggregator
from headgate.options.deviations import Parity
from headgate.ports import EndOffsets, JobContext
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob


class FlinkWatch:
    """
    A collector, and the one job it looks at.

    Attributes:
        aggregator: of the busy time; change it before a sample.
        parity: whose rules hold; change it before a sample.
        at: the latest tick.
    """

    def __init__(
        self, server: FakeFlink, client: FlinkClient, job: FakeJob, *, offsets: EndOffsets | None = None
    ) -> None:
        """Begin with nothing remembered."""
        self.aggregator = BusyTimeAggregator.AVG
        self.parity = Parity.CURRENT
        self.at = datetime(2026, 1, 1, tzinfo=UTC)
        self.collector = FlinkMetricCollector({client.cluster: client}, offsets=offsets)
        self._server = server
        self._key = JobKey(client.cluster, job.name)
        self._job_id = job.job_id

    @property
    def context(self) -> JobContext:
        """The job as its cluster lists it."""
        options = AutoscalerOptions(busy_time_aggregator=self.aggregator, parity=self.parity)
        return JobContext(key=self._key, job_id=self._job_id, status=JobStatus.RUNNING, options=options)

    async def sample(self, after_s: float = 10.0) -> JobSample:
        """Let time pass, then take a sample."""
        self._server.advance(after_s)
        self.at += timedelta(seconds=after_s)
        return await self.collector.update_metrics(self.context, self.at)
