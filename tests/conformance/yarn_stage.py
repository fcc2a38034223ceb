"""The fake Flink of the suites as an application of a fake YARN."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from tests.conformance.flink_stage import OPTIONS, FlinkStage, flink_stage

from headgate.config.jobs import JobSettings
from headgate.engines.flink.clusters import ClustersFailureHistory, ClustersMetricCollector
from headgate.engines.yarn.applications import Applications
from headgate.engines.yarn.jobs import YarnJobListFetcher
from headgate.engines.yarn.manager import ResourceManagers
from headgate.engines.yarn.realizer import YarnScalingRealizer
from headgate.options.yarn import YarnOptions
from headgate.testing.fake_yarn import FakeYarn

_ID = "application_1767225600000_0001"
_APP = {
    "id": _ID,
    "name": "orders",
    "state": "RUNNING",
    "applicationType": "Apache Flink",
    "trackingUI": "ApplicationMaster",
    "startedTime": 1767225600000,
}


class YarnStage:
    """The same cluster and jobs, asked through YARN."""

    def __init__(self, flink: FlinkStage, managers: ResourceManagers, applications: Applications) -> None:
        """Put the YARN adapters in front."""
        self.fetcher = YarnJobListFetcher("yarn", managers, applications)
        self.collector = ClustersMetricCollector(applications)
        self.realizer = YarnScalingRealizer(applications)
        self.history = ClustersFailureHistory(applications)
        self.wish, self.impossible = flink.wish, flink.impossible
        self.asked, self.requests = flink.asked, flink.requests
        self.pass_time, self.start_twin = flink.pass_time, flink.start_twin
        self.end_job, self.go_silent = flink.end_job, flink.go_silent
        self.fail_job, self._flink = flink.fail_job, flink

    @property
    def now(self) -> datetime:
        """Give the JobManager's clock."""
        return self._flink.now

    async def look(self) -> None:
        """Find the jobs."""
        self.jobs = (await self.fetcher.fetch()).jobs
        self.job = self.jobs[0]


@asynccontextmanager
async def yarn_stage() -> AsyncIterator[YarnStage]:
    """Serve one application with one job."""
    async with flink_stage() as flink, FakeYarn([_APP], {_ID: flink.server}) as yarn:
        options = YarnOptions(name="yarn", urls=(yarn.url,))
        managers = ResourceManagers(options)
        applications = Applications(options, lambda *_: JobSettings(options=OPTIONS))
        stage = YarnStage(flink, managers, applications)
        await stage.look()
        yield stage
        await applications.close()
        await managers.close()
