"""What jobs say of themselves is asked for now and then, and never stands in the way of the listing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import pytest

from headgate.config import for_job
from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.jobs import FlinkJobListFetcher
from headgate.engines.flink.wishes import Wishes, read_parameters
from headgate.errors import HeadgateError, NotFoundError, RefusedError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ClusterOptions, ServiceOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.faults import Fault, FaultKind

T = TypeVar("T")

CLUSTER = ClusterOptions(name="fake", url="http://127.0.0.1:9")
SERVICE = ServiceOptions(clusters=(CLUSTER,), autoscaler=AutoscalerOptions(max_parallelism=50))
KEY, JOB_ID = JobKey("fake", "orders"), "a" * 32


class Answering(FlinkClient):
    """A client that knows two answers, and counts how often it is asked for the first."""

    def __init__(self, started_with: Mapping[str, str], parameters: Mapping[str, str]) -> None:
        """Answer with these."""
        super().__init__(CLUSTER)
        self.started_with = started_with
        self.parameters = parameters
        self.failure: HeadgateError | None = None
        self.failing = ""
        self.asked = 0

    async def get(self, path: str, read: Callable[[Any], T]) -> T:
        """Give an answer, or fail as told."""
        if self.failure and path.endswith(self.failing):
            raise self.failure
        if path.endswith("/jobmanager/config"):
            self.asked += 1
            return read([{"key": key, "value": value} for key, value in self.started_with.items()])
        return read({"execution-config": {"user-config": self.parameters}})


ON_THE_WAY = (JobStatus.STARTING, JobStatus.RESTARTING)


@dataclass
class Cluster:
    """A cluster whose jobs have wishes, and a clock to be set."""

    client: Answering = field(
        default_factory=lambda: Answering(
            {"job.autoscaler.utilization.target": "0.5", "job.autoscaler.restart.time": "1 min"},
            {"job.autoscaler.utilization.target": "0.8"},
        )
    )
    now_s: float = 0.0

    def __post_init__(self) -> None:
        """Know nothing yet."""
        self.wishes = Wishes(self.client, partial(for_job, SERVICE), clock=lambda: self.now_s)


async def test_a_jobs_parameters_are_stronger_than_what_its_jobmanager_was_started_with() -> None:
    """And both are stronger than the service's options."""
    options = (await Cluster().wishes.settings(KEY, JOB_ID)).options
    assert (options.utilization_target, options.restart_time.seconds, options.max_parallelism) == (0.8, 60, 50)


async def test_a_job_is_asked_once_and_then_every_few_minutes() -> None:
    """Another job, or the same one submitted again, is asked at once."""
    cluster = Cluster()
    for _ in range(3):
        await cluster.wishes.settings(KEY, JOB_ID)
    assert cluster.client.asked == 1
    await cluster.wishes.settings(KEY, "b" * 32)
    assert cluster.client.asked == 2
    cluster.now_s = 600
    await cluster.wishes.settings(KEY, JOB_ID)
    assert cluster.client.asked == 3


@pytest.mark.parametrize("status", [JobStatus.FINISHED, JobStatus.CANCELED, JobStatus.OTHER])
async def test_a_job_that_is_not_to_run_is_not_asked(status: JobStatus) -> None:
    """Flink may not know it any more: nothing is said of its wishes, so it is only advised, without a fault."""
    cluster = Cluster()
    settings = await cluster.wishes.settings(KEY, JOB_ID, status=status)
    assert (settings.options, settings.told) == (replace(SERVICE.autoscaler, scaling_enabled=False), ())
    assert cluster.client.asked == 0


@pytest.mark.parametrize("status", ON_THE_WAY)
async def test_a_job_that_fails_over_is_asked_each_time(status: JobStatus) -> None:
    """A rescale before this process began may be why: it can be taken back only if its owner allows that."""
    cluster = Cluster()
    for _ in range(2):
        settings = await cluster.wishes.settings(KEY, JOB_ID, status=status)
        assert (settings.options.scaling_enabled, settings.options.utilization_target) == (True, 0.8)
    assert cluster.client.asked == 2


async def test_a_job_that_has_failed_for_good_is_asked_once() -> None:
    """A redeploy before this process began may be why: Flink still tells what its owner wants, and that is final."""
    cluster = Cluster()
    for _ in range(2):
        settings = await cluster.wishes.settings(KEY, JOB_ID, status=JobStatus.FAILED)
        assert (settings.options.scaling_enabled, settings.options.utilization_target) == (True, 0.8)
    assert cluster.client.asked == 1


@pytest.mark.parametrize("status", [*ON_THE_WAY, JobStatus.FAILED])
async def test_a_job_that_fails_and_tells_nothing_is_only_advised(status: JobStatus) -> None:
    """Flink may not know it yet: that is no fault."""
    cluster = Cluster()
    cluster.client.failure = NotFoundError("no such job")
    settings = await cluster.wishes.settings(KEY, JOB_ID, status=status)
    assert (settings.options, settings.told) == (replace(SERVICE.autoscaler, scaling_enabled=False), ())


async def test_what_is_known_of_a_job_holds_while_it_does_not_run() -> None:
    """However old it is; a restart takes no wish away."""
    cluster = Cluster()
    known = await cluster.wishes.settings(KEY, JOB_ID)
    cluster.now_s = 600
    assert await cluster.wishes.settings(KEY, JOB_ID, status=JobStatus.RESTARTING) is known
    assert cluster.client.asked == 1


async def test_until_its_wishes_are_known_a_job_is_only_advised() -> None:
    """Its owner may have said that it must not be scaled; the failure is told."""
    cluster = Cluster()
    cluster.client.failure = UnreachableError("no answer")
    settings = await cluster.wishes.settings(KEY, JOB_ID)
    assert not settings.options.scaling_enabled
    assert settings.told == ("the job's configuration is not known yet, so it is not scaled: no answer",)
    cluster.client.failure = None
    assert (await cluster.wishes.settings(KEY, JOB_ID)).options.scaling_enabled


async def test_a_later_failure_leaves_what_is_known() -> None:
    """An answer does not get worse by being old."""
    cluster = Cluster()
    known = await cluster.wishes.settings(KEY, JOB_ID)
    cluster.now_s, cluster.client.failure = 600, UnreachableError("no answer")
    assert await cluster.wishes.settings(KEY, JOB_ID) is known


@pytest.mark.parametrize(("refused", "target"), [("/jobmanager/config", 0.8), (f"{JOB_ID}/config", 0.5)])
async def test_of_the_two_answers_one_is_enough(refused: str, target: float) -> None:
    """Not every version and setup has both, and that is no fault."""
    cluster = Cluster()
    cluster.client.failure, cluster.client.failing = NotFoundError("no such path"), refused
    settings = await cluster.wishes.settings(KEY, JOB_ID)
    assert (settings.options.utilization_target, settings.told) == (target, ())
    assert settings.options.scaling_enabled


@pytest.mark.parametrize("refusal", [NotFoundError("no such job"), RefusedError("not allowed")])
async def test_a_cluster_that_refuses_both_answers_has_not_said_that_there_is_nothing(refusal: HeadgateError) -> None:
    """The job is only advised, and asked again the next time, not minutes later."""
    cluster = Cluster()
    cluster.client.failure = refusal
    settings = await cluster.wishes.settings(KEY, JOB_ID)
    assert not settings.options.scaling_enabled
    assert settings.told == (f"the job's configuration is not known yet, so it is not scaled: {refusal}",)
    cluster.client.failure = None
    assert (await cluster.wishes.settings(KEY, JOB_ID)).options.scaling_enabled


async def test_a_later_refusal_leaves_what_is_known() -> None:
    """And the job is asked again the next time."""
    cluster = Cluster()
    known = await cluster.wishes.settings(KEY, JOB_ID)
    cluster.now_s, cluster.client.failure = 600, NotFoundError("no such job")
    assert await cluster.wishes.settings(KEY, JOB_ID) is known
    cluster.client.failure = None
    await cluster.wishes.settings(KEY, JOB_ID)
    assert cluster.client.asked == 2


async def test_a_job_that_is_no_longer_listed_is_forgotten() -> None:
    """Ids are never used again."""
    cluster = Cluster()
    await cluster.wishes.settings(KEY, JOB_ID)
    cluster.wishes.keep([])
    await cluster.wishes.settings(KEY, JOB_ID)
    assert cluster.client.asked == 2


def test_a_job_without_parameters_has_none() -> None:
    """Older versions write null."""
    assert read_parameters({"execution-config": {"user-config": None}}) == {}
    assert read_parameters({"jid": "a"}) == {}
    assert read_parameters({"execution-config": {"user-config": {"a": 1}}}) == {"a": "1"}


@pytest.fixture
def fetcher(client: FlinkClient) -> FlinkJobListFetcher:
    """Give a fetcher over the fake server."""
    return FlinkJobListFetcher({"fake": client}, partial(for_job, SERVICE))


async def test_faults_of_a_job_come_with_it(server: FakeFlink, fetcher: FlinkJobListFetcher) -> None:
    """The job is listed although its configuration could not be read."""
    server.plant(Fault(path=f"/jobs/{JOB_ID}/jobmanager/config", kind=FaultKind.GARBLE))
    (job,) = (await fetcher.fetch()).jobs
    assert not job.options.scaling_enabled
    assert "so it is not scaled: cluster fake: GET" in job.faults[0]


async def test_a_server_that_knows_no_such_path_brings_no_fault(fetcher: FlinkJobListFetcher) -> None:
    """The service's options hold as they are."""
    (job,) = (await fetcher.fetch()).jobs
    assert (job.options, job.faults) == (SERVICE.autoscaler, ())


async def test_other_options_of_the_service_reach_a_known_job_at_once() -> None:
    """The job is not asked again for that, and what it says of itself is still the stronger."""
    cluster = Cluster()
    service = SERVICE
    cluster.wishes = Wishes(
        cluster.client,
        lambda key, own: for_job(service, key, own),
        basis=lambda: service,
        clock=lambda: cluster.now_s,
    )
    before = await cluster.wishes.settings(KEY, JOB_ID)
    assert await cluster.wishes.settings(KEY, JOB_ID) is before
    service = replace(SERVICE, autoscaler=AutoscalerOptions(max_parallelism=7, utilization_target=0.1))
    for status in (JobStatus.RUNNING, JobStatus.RESTARTING):
        options = (await cluster.wishes.settings(KEY, JOB_ID, status=status)).options
        assert (options.max_parallelism, options.utilization_target) == (7, 0.8)
    assert cluster.client.asked == 1
