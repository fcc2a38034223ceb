"""The place of FLIP-530, against a hand-written fake: no Flink has the endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import pytest

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.dynamic import DynamicConfigRealizer
from headgate.errors import RefusedError, UnreachableError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions
from headgate.ports import JobContext
from headgate.testing.fake_dynamic import ProposedFlink
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob
from headgate.testing.faults import Fault

CHANGES = ConfigChanges(
    overrides={"execution.checkpointing.interval": "30 s"}, removals=frozenset({"pipeline.object-reuse"})
)


@dataclass
class Behind:
    """The realizer behind: it notes what is left to it."""

    asked: list[object] = field(default_factory=list)

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Note it."""
        assert ctx.key.cluster == "fake"
        self.asked.append(overrides)
        return True

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """Note it."""
        assert ctx.key.cluster == "fake"
        self.asked.append(changes)
        return True


@pytest.fixture
def ctx(job: FakeJob) -> JobContext:
    """Name the job."""
    return JobContext(
        key=JobKey("fake", "orders"), job_id=job.job_id, status=JobStatus.RUNNING, options=AutoscalerOptions()
    )


@pytest.fixture
async def proposed(job: FakeJob) -> AsyncIterator[ProposedFlink]:
    """Serve the job as the proposal has it."""
    async with ProposedFlink([job]) as server:
        server.configurations[job.job_id] = {"pipeline.object-reuse": False, "state.backend.type": "rocksdb"}
        yield server


@pytest.fixture
async def future(proposed: ProposedFlink) -> AsyncIterator[FlinkClient]:
    """Give a client of it."""
    async with FlinkClient(ClusterOptions(name="fake", url=proposed.url)) as opened:
        yield opened


async def test_a_change_is_written_back_with_all_the_rest(
    proposed: ProposedFlink, future: FlinkClient, ctx: JobContext
) -> None:
    """Once: asked for the same again nothing is sent, and nothing is left to the realizer behind."""
    behind = Behind()
    realizer = DynamicConfigRealizer(behind, {"fake": future})
    assert await realizer.realize_config_overrides(ctx, CHANGES)
    assert proposed.configurations[ctx.job_id] == {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.interval": "30 s",
    }
    assert not await realizer.realize_config_overrides(ctx, CHANGES)
    assert proposed.asked("/config", "PUT") == 1
    assert behind.asked == []


async def test_a_flink_of_today_is_left_to_the_realizer_behind(
    server: FakeFlink, client: FlinkClient, ctx: JobContext
) -> None:
    """It answers the path without the proposed fields: nothing is ever sent."""
    behind = Behind()
    assert await DynamicConfigRealizer(behind, {"fake": client}).realize_config_overrides(ctx, CHANGES)
    assert behind.asked == [CHANGES]
    assert server.asked("/config", "PUT") == 0


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_a_path_that_is_not_there_is_left_to_it_too(
    proposed: ProposedFlink, future: FlinkClient, ctx: JobContext, method: str
) -> None:
    """Whether the probe says so or the request itself."""
    proposed.plant(Fault(path=f"/jobs/{ctx.job_id}/config", method=method, status=404))
    behind = Behind()
    assert await DynamicConfigRealizer(behind, {"fake": future}).realize_config_overrides(ctx, CHANGES)
    assert behind.asked == [CHANGES]


async def test_a_cluster_that_is_not_turned_on_is_not_asked(
    proposed: ProposedFlink, future: FlinkClient, ctx: JobContext
) -> None:
    """That is the default; parallelism is the other realizer's in any case."""
    behind = Behind()
    realizer = DynamicConfigRealizer(behind, {})
    assert await realizer.realize_config_overrides(ctx, CHANGES)
    wanted = {VertexId("a" * 32): 2}
    assert await DynamicConfigRealizer(behind, {"fake": future}).realize_parallelism_overrides(ctx, wanted)
    assert behind.asked == [CHANGES, wanted]
    assert proposed.requests == []
    assert ClusterOptions(name="fake", url=proposed.url).dynamic_configuration is False


async def test_a_refusal_and_a_failure_are_told(proposed: ProposedFlink, future: FlinkClient, ctx: JobContext) -> None:
    """Neither is a reason to restart the job instead: the first is final, the second may pass."""
    behind = Behind()
    realizer = DynamicConfigRealizer(behind, {"fake": future})
    proposed.plant(Fault(path=f"/jobs/{ctx.job_id}/config", method="PUT", status=409))
    with pytest.raises(RefusedError):
        await realizer.realize_config_overrides(ctx, CHANGES)
    proposed.heal()
    proposed.plant(Fault(path=f"/jobs/{ctx.job_id}/config", method="GET", status=500))
    with pytest.raises(UnreachableError):
        await realizer.realize_config_overrides(ctx, CHANGES)
    assert behind.asked == []
