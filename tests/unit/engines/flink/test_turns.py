"""Who may ask a cluster, who gives way and who rests: jobs that hang cost the others no more than a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from tests.unit.no_time import in_no_time

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.turns import Turns
from headgate.errors import HeadgateError, UnreachableError
from headgate.options.service import ClusterOptions
from headgate.options.units import parse_duration
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain
from headgate.testing.faults import Fault, FaultKind

LIMIT_S = 30.0
NEARLY_ALL_S = 0.999 * LIMIT_S
HANGING, HEALTHY = f"/jobs/{'f' * 32}", f"/jobs/{'a' * 32}"


def turns(*, most: int = 1, rest_s: float = 30) -> Turns:
    """Make the turns of a cluster."""
    return Turns(most, cluster="lab", rest_s=rest_s)


async def answered(of: Turns, path: str = HEALTHY) -> None:
    """Make a call that is answered at once."""
    async with of.take(path, limit_s=LIMIT_S, reads=True) as turn, turn.bounded():
        await asyncio.sleep(0)


async def later(seconds: float) -> None:
    """Let time pass."""
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), seconds)


async def hang(of: Turns, path: str = HANGING, *, reads: bool = True) -> float:
    """Make a call that is never answered; give the seconds that it held its turn."""
    async with of.take(path, limit_s=LIMIT_S, reads=reads) as turn:
        began_s = asyncio.get_running_loop().time()
        with pytest.raises(TimeoutError):
            async with turn.bounded():
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time() - began_s


async def hang_while_others_wait(of: Turns, *, reads: bool = True) -> float:
    """Make a call that is never answered, and another one that waits for its turn."""
    held_s, _ = await asyncio.gather(hang(of, reads=reads), answered(of))
    return held_s


async def hang_beside(of: Turns, *, others: int) -> float:
    """Make a call that is never answered, and others that are before anybody notices."""
    hanging = asyncio.create_task(hang(of))
    await asyncio.sleep(0)
    for _ in range(others):
        await answered(of)
    return await hanging


@in_no_time
async def test_a_call_without_an_answer_gives_way_to_who_waits() -> None:
    """It has a tenth of its time, as the usual call takes far less."""
    cluster = turns()
    await answered(cluster)
    assert await hang_while_others_wait(cluster) < LIMIT_S / 2


@in_no_time
async def test_where_nobody_waits_a_call_has_all_its_time() -> None:
    """A second one too; then the job is known to be silent, is asked all the same, and has little time to answer."""
    cluster = turns()
    await answered(cluster)
    assert await hang(cluster) >= NEARLY_ALL_S
    assert await hang(cluster) >= NEARLY_ALL_S
    assert await hang(cluster) < LIMIT_S / 2
    await answered(cluster, HANGING)
    assert await hang(cluster) >= NEARLY_ALL_S


@in_no_time
async def test_a_call_that_many_others_overtake_gives_way_though_nobody_waits() -> None:
    """The cluster answers the others, so it is the job that hangs."""
    cluster = turns(most=4)
    await answered(cluster)
    assert await hang_beside(cluster, others=3) >= NEARLY_ALL_S
    assert await hang_beside(cluster, others=4) < LIMIT_S / 2


@in_no_time
async def test_where_no_call_was_answered_yet_nobody_gives_way() -> None:
    """What is usual is not known: the whole cluster may be slow."""
    assert await hang_while_others_wait(turns()) >= NEARLY_ALL_S


@in_no_time
async def test_where_all_calls_are_slow_nobody_gives_way_early() -> None:
    """A cluster that takes a tenth of the limit for every answer is slow, its jobs do not hang."""
    cluster = turns()
    async with cluster.take(HEALTHY, limit_s=LIMIT_S, reads=True) as turn, turn.bounded():
        await later(LIMIT_S / 10)
    assert await hang_while_others_wait(cluster) >= NEARLY_ALL_S


@in_no_time
async def test_a_request_that_changes_something_never_gives_way() -> None:
    """To end it early would leave open what it did."""
    cluster = turns()
    await answered(cluster)
    assert await hang_while_others_wait(cluster, reads=False) >= NEARLY_ALL_S


@in_no_time
async def test_a_job_that_was_in_the_way_twice_rests_and_is_asked_again() -> None:
    """Twice, as a cluster may stand still for once; an answer makes it one like the others."""
    cluster = turns(rest_s=60.0)
    await answered(cluster)
    await hang_while_others_wait(cluster)
    await hang_while_others_wait(cluster)
    with pytest.raises(UnreachableError, match=f"cluster lab: job {'f' * 32} is not asked for now"):
        await answered(cluster, HANGING)
    async with cluster.take(HANGING, limit_s=LIMIT_S, reads=False) as turn, turn.bounded():
        pass  # what is to be changed is changed

    await later(2 * 60.0)
    await answered(cluster, HANGING)
    await hang_while_others_wait(cluster)
    await answered(cluster, HANGING)


async def test_jobs_that_hang_do_not_keep_the_others_out() -> None:
    """Sixteen jobs in a row that hang, and four calls at once: the others are all read long before the time limit."""
    hanging, healthy = fleet("f", 16), fleet("a", 30)
    async with FakeFlink([*hanging, *healthy]) as server:
        server.plant(Fault(kind=FaultKind.HANG, path="/jobs/f*"))
        limit = parse_duration("4 s")
        options = ClusterOptions(name="lab", url=server.url, max_calls_in_flight=4, request_timeout=limit)
        async with FlinkClient(options) as client:
            await client.get("/jobs/overview", lambda _: None)
            async with asyncio.timeout(limit.total_seconds()):
                read = await asyncio.gather(*(is_read(client, job) for job in [*hanging, *healthy]))
    assert read == [False] * len(hanging) + [True] * len(healthy)


def fleet(letter: str, jobs: int) -> Sequence[FakeJob]:
    """Make jobs whose ids begin with a letter."""
    return [chain(job_id=f"{letter}{number:031x}", name=f"{letter}{number}", vertices=1) for number in range(jobs)]


async def is_read(client: FlinkClient, job: FakeJob) -> bool:
    """Ask for a job, and tell whether it answered."""
    try:
        await client.get(f"/jobs/{job.job_id}", lambda _: None)
    except HeadgateError:
        return False
    return True
