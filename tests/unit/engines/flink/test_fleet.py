"""A collector whose crew asks elsewhere gives what the service's own gives, whatever becomes of the crew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from headgate.engines.flink.remote import Errand, run_errands, unpack
from headgate.errors import UnreachableError
from headgate.model.identity import JobKey
from headgate.model.samples import JobSample
from headgate.testing.small_fleet import BROKEN, NAMES, Seen, SmallFleet, small_fleet


class Crew:
    """
    Runs errands in this process, as often as it is asked.

    Attributes:
        runs: the sizes of each run's errands.
        loses: the cluster whose errand is lost.
        fails: whether everything is.
    """

    def __init__(self) -> None:
        """Work as it should."""
        self.runs: list[list[int]] = []
        self.loses = ""
        self.fails = False

    def __call__(self, errands: Sequence[bytes], sizes: Sequence[int], /) -> list[bytes | str]:
        """Run errands."""
        self.runs.append(list(sizes))
        if self.fails:
            message = "there is no Spark"
            raise UnreachableError(message)
        lost = [unpack(errand, Errand).cluster.name == self.loses for errand in errands]
        return ["it was lost" if gone else each for gone, each in zip(lost, run_errands(errands), strict=True)]


@pytest.fixture
def crew() -> Crew:
    """Give a crew."""
    return Crew()


@pytest.fixture
async def fleet(crew: Crew) -> AsyncIterator[SmallFleet]:
    """Give three clusters, the last of which is broken."""
    async with small_fleet(crew) as served:
        yield served


async def test_a_crew_sees_what_the_service_sees(fleet: SmallFleet, crew: Crew) -> None:
    """Samples, and the reasons why there are none; all jobs of a tick go out together, an errand a cluster."""
    for _ in range(3):
        by_service, by_crew = await fleet.tick()
        assert by_crew == by_service
    assert [job.cluster for job, seen in by_crew.items() if isinstance(seen, str)] == [BROKEN] * 4
    assert crew.runs == [[4, 4, 4]] * 3


async def test_an_epoch_is_raised_although_every_tick_has_another_crew(fleet: SmallFleet) -> None:
    """What is remembered of a job goes out with its errand and comes back: a fall of counters is seen as one."""
    await fleet.tick()
    _, before = await fleet.tick()
    fleet.begin_anew(NAMES[0])
    by_service, after = await fleet.tick()
    assert after == by_service
    assert _epochs(after, NAMES[0]) != _epochs(before, NAMES[0])
    assert _epochs(after, NAMES[1]) == _epochs(before, NAMES[1])


async def test_what_changes_rarely_is_not_asked_at_every_tick(fleet: SmallFleet) -> None:
    """A cluster's settings are believed for minutes, by a new crew too."""
    for _ in range(3):
        await fleet.tick()
    assert fleet.servers[NAMES[0]].asked("/jobmanager/config") == 2, "once by either collector"


async def test_a_lost_errand_costs_only_its_own_clusters_samples(fleet: SmallFleet, crew: Crew) -> None:
    """The others have theirs, and what was remembered of the lost one's jobs is not lost."""
    await fleet.tick()
    crew.loses = NAMES[0]
    by_service, by_crew = await fleet.tick()
    lost = {job: seen for job, seen in by_crew.items() if job.cluster == NAMES[0]}
    assert all(str(seen).endswith("was not collected from: it was lost") for seen in lost.values())
    assert {**by_service, **lost} == by_crew
    crew.loses = ""
    fleet.begin_anew(NAMES[0])
    by_service, by_crew = await fleet.tick()
    assert _epochs(by_crew, NAMES[0]) == _epochs(by_service, NAMES[0])


async def test_a_crew_that_fails_is_told_of_for_each_job(fleet: SmallFleet, crew: Crew) -> None:
    """And the next tick tries again."""
    crew.fails = True
    _, by_crew = await fleet.tick()
    assert set(by_crew.values()) == {"UnreachableError: there is no Spark"}
    crew.fails = False
    by_service, by_crew = await fleet.tick()
    assert by_crew.keys() == by_service.keys()
    assert any(isinstance(seen, JobSample) for seen in by_crew.values())


async def test_the_graph_before_a_change_is_the_one_of_the_samples(fleet: SmallFleet) -> None:
    """Partitions, which only metric names tell, are known to whoever asks for the graph here."""
    _, seen = await fleet.tick()
    job = fleet.jobs[0]
    sample = seen[job.key]
    assert isinstance(sample, JobSample)
    assert await fleet.fleet.query_topology(job) == sample.topology
    assert sample.topology.vertices[0].partitions == 8


async def test_a_forgotten_job_begins_anew(fleet: SmallFleet) -> None:
    """As with the service's own collector."""
    await fleet.tick()
    for collector in (fleet.here, fleet.fleet):
        collector.forget(fleet.jobs[0].key)
    by_service, by_crew = await fleet.tick()
    assert by_crew == by_service


def _epochs(seen: Seen, cluster: str) -> dict[JobKey, set[int]]:
    """Give the epochs of the samples of a cluster's jobs."""
    samples = {job: each for job, each in seen.items() if isinstance(each, JobSample) and job.cluster == cluster}
    return {job: {vertex.epoch for vertex in each.vertices.values()} for job, each in samples.items()}
