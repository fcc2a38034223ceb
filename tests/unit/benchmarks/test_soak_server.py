"""The soak's fake Flink: what happens to its jobs, and what its ledger says of that."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientError, ClientSession
from benchmarks.soak_plan import Setting, Spell, Step, Trouble
from benchmarks.soak_server import SoakFlink
from benchmarks.soak_truth import What, needed, parallelism_of, rate_of

JOB = f"{0:032x}"
REQUIREMENTS = f"/jobs/{JOB}/resource-requirements"


@pytest.fixture
async def flink() -> AsyncIterator[SoakFlink]:
    """One job."""
    async with SoakFlink(Setting(seed=1, jobs=1, duration_s=900.0, tick_s=10.0)) as server:
        yield server


@pytest.fixture
async def client(flink: SoakFlink) -> AsyncIterator[ClientSession]:
    """Asks it."""
    async with ClientSession(flink.url) as session:
        yield session


async def ask(client: ClientSession, flink: SoakFlink, *counts: int) -> None:
    """Ask for a parallelism by vertex."""
    vertices = flink.jobs[JOB].vertices
    bounds = [{"parallelism": {"lowerBound": 1, "upperBound": count}} for count in counts]
    await client.put(REQUIREMENTS, json=dict(zip([vertex.id for vertex in vertices], bounds, strict=True)))


def spell(trouble: Trouble, until_s: float = 0.0) -> Spell:
    """Give a trouble that begins at once."""
    return Spell(at_s=0.0, job=0, trouble=trouble, until_s=until_s)


def noted(flink: SoakFlink) -> list[tuple[What, str]]:
    """Give the ledger after its first entry, without times."""
    return [(entry.what, entry.value) for entry in flink.ledger[1:]]


async def test_a_rescale_is_an_effect_once(flink: SoakFlink, client: ClientSession) -> None:
    """Asked for again it changes nothing, and is noted as that."""
    await ask(client, flink, 3, 5, 2)
    await ask(client, flink, 3, 5, 2)
    assert noted(flink) == [(What.EFFECT, "3 5 2"), (What.RESTATED, "3 5 2")]


async def test_a_rescale_whose_answer_is_lost_is_an_effect(flink: SoakFlink, client: ClientSession) -> None:
    """Who asked hears of a broken connection, and may ask once more; what is read meanwhile is answered."""
    flink._trouble(spell(Trouble.LOST))
    with pytest.raises(ClientError):
        await ask(client, flink, 3, 5, 2)
    async with client.get(REQUIREMENTS) as answer:
        assert answer.status == 200
    assert noted(flink)[:2] == [(What.TROUBLE, "lost"), (What.EFFECT, "3 5 2")]
    assert {what for what, _ in noted(flink)[2:]} <= {What.RESTATED}


async def test_a_trouble_ends(flink: SoakFlink, client: ClientSession) -> None:
    """And is noted at both ends."""
    flink._trouble(spell(Trouble.ERROR))
    async with client.get(REQUIREMENTS) as answer:
        assert answer.status == 500
    flink._calm(spell(Trouble.ERROR))
    async with client.get(REQUIREMENTS) as answer:
        assert answer.status == 200
    assert noted(flink) == [(What.TROUBLE, "error"), (What.CALM, "error")]


async def test_a_job_that_vanished_comes_back_under_another_id(flink: SoakFlink) -> None:
    """With its name, and asked to have what it was asked to have."""
    (name,) = [job.name for job in flink.jobs.values()]
    await flink.follow([spell(Trouble.GONE)])
    (job,) = flink.jobs.values()
    assert job.job_id != JOB
    assert job.name == name
    assert tuple(vertex.parallelism for vertex in job.vertices) == needed(int(flink.ledger[0].value))


async def test_a_load_steps(flink: SoakFlink) -> None:
    """As the plan says, and the ledger with it."""
    await flink.follow([Step(at_s=0.0, job=0, level=4)])
    assert flink.jobs[JOB].rate == rate_of(4)
    assert noted(flink) == [(What.LEVEL, "4")]
    assert parallelism_of("4 8 2") == needed(4)
