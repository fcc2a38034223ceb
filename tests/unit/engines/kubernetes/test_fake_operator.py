"""The stand-in for the operator does what the real one was seen to do; what Headgate never asks for as well."""

from __future__ import annotations

from tests.unit.engines.kubernetes.conftest import Stage

from headgate.engines.kubernetes.resources import Plural


def numbers(stage: Stage, *each: int) -> str:
    """Write numbers for the first vertices of the job, by hand."""
    return ",".join(f"{vertex}:{number}" for vertex, number in stage.wish(*each).items())


async def test_overrides_are_taken_in_place(stage: Stage) -> None:
    """Those of vertices that the job does not have are ignored, and all is said to be well."""
    await stage.write(f"{numbers(stage, 2, 3)},{'f' * 32}:9")
    assert stage.parallelism() == [2, 3, 1]
    assert stage.operator.redeploys == []
    assert stage.resource().is_settled


async def test_a_release_calls_a_rescale_an_upgrade(stage: Stage) -> None:
    """Until it has looked again."""
    stage.operator.released = True
    await stage.write(numbers(stage, 2, 3))
    assert stage.parallelism() == [2, 3, 1]
    assert (stage.resource().lifecycle, stage.resource().is_redeploying) == ("UPGRADING", False)
    await stage.operator.look()
    assert stage.resource().is_settled


async def test_a_vertex_that_is_left_out_costs_a_redeploy(stage: Stage) -> None:
    """Under another job id, and at the job's own parallelism."""
    await stage.write(numbers(stage, 2, 3))
    before = stage.resource().job_id
    await stage.write(numbers(stage, 2))
    assert stage.operator.redeploys == ["orders"]
    assert stage.parallelism() == [1, 1, 1]
    assert stage.resource().job_id != before


async def test_a_number_that_is_none_costs_a_redeploy(stage: Stage) -> None:
    """Or one that no vertex can have."""
    first = stage.running().vertices[0].id
    for text in (f"{first}:two", f"{first}:0", f"{first}:129"):
        await stage.write(text)
    assert stage.operator.redeploys == ["orders"] * 3


async def test_a_text_that_is_no_map_is_complained_of(stage: Stage) -> None:
    """The job is left alone, and the next change that makes sense works at once."""
    await stage.write("notamap")
    assert stage.resource().error
    assert not stage.resource().is_settled
    await stage.write(numbers(stage, 2))
    assert stage.resource().error == ""
    assert stage.parallelism() == [2, 1, 1]


async def test_the_same_again_is_no_change(stage: Stage) -> None:
    """Nothing is done for it: a job that was started anew stays at its own parallelism."""
    await stage.write(numbers(stage, 2))
    stage.parallelism()
    stage.running().request({vertex.id: (1, 1) for vertex in stage.running().vertices})
    await stage.write(numbers(stage, 2))
    assert stage.parallelism() == [1, 1, 1]


async def test_its_own_autoscaler_swallows_what_others_write(stage: Stage) -> None:
    """Without a word."""
    await stage.edit(job_autoscaler_enabled="true")
    await stage.write(numbers(stage, 2))
    assert stage.parallelism() == [1, 1, 1]
    assert stage.resource().is_settled


async def test_replicas_cost_a_redeploy_in_native_mode(stage: Stage) -> None:
    """So does any other change of a resource."""
    await stage.operator.edit(Plural.DEPLOYMENT, "orders", {"taskManager": {"replicas": 3}})
    await stage.operator.look()
    assert stage.operator.redeploys == ["orders"]
