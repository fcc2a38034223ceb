"""The operator's realizer: it writes what is wished, and nothing that the operator would answer with a redeploy."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.conformance.simulated_stage import SimulatedStage
from tests.unit.engines.kubernetes.conftest import Stage

from headgate.engines.flink.numbers import instant
from headgate.engines.kubernetes.realizer import FlinkOperatorRealizer, KubernetesScalingRealizer
from headgate.engines.kubernetes.resources import OVERRIDES, Plural
from headgate.errors import ConflictError, NotFoundError, OvertakenError, RefusedError
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.model.state import Intent
from headgate.options.kubernetes import Upgrades
from headgate.testing.fake_flink import START_MS

LATER_S = 121.0
"""When a request is no longer young."""
REST = "resource-requirements"


def intent(before: dict[VertexId, int], after: dict[VertexId, int], *, takes_back: str | None = None) -> Intent:
    """Give one that was decided just now."""
    at = instant(START_MS)
    return Intent(
        decision_id="d",
        decided_at=at,
        job_id="a" * 32,
        fingerprint="f",
        before=before,
        after=after,
        deadline=at + timedelta(minutes=5),
        takes_back=takes_back,
    )


async def test_a_job_is_rescaled_in_place(stage: Stage) -> None:
    """The whole map is written, at the version that was read, and the operator asks Flink for it."""
    assert await stage.ask(1, 4) is True
    assert stage.written() == [1, 4, 1]
    assert stage.api.bodies()[0]["metadata"]["resourceVersion"]
    await stage.operator.look()
    assert stage.parallelism() == [1, 4, 1]
    assert (stage.operator.rescales, stage.operator.redeploys) == (["orders"], [])


async def test_what_is_written_and_heard_is_not_written_again(stage: Stage) -> None:
    """However often it is asked for."""
    await stage.ask(1, 4)
    await stage.operator.look()
    assert await stage.ask(1, 4) is False
    assert stage.changes() == 1


async def test_a_session_job_has_its_own_resource(stage: Stage) -> None:
    """That of its cluster is left alone."""
    await stage.ask(2, 3, job="clicks")
    await stage.operator.look()
    assert stage.parallelism("clicks") == [2, 3]
    assert stage.resource("clicks", Plural.SESSION_JOB).generation == 2
    assert stage.resource("shared").generation == 1


async def test_a_vertex_that_was_written_is_written_again(stage: Stage) -> None:
    """Even one that the job does not have: the operator redeploys a job from whose map something is gone."""
    ghost = "f" * 32
    await stage.write(f"{stage.running().vertices[2].id}:2,{ghost}:7")
    await stage.ask(3)
    await stage.operator.look()
    assert stage.parallelism() == [3, 1, 2]
    assert stage.resource().overrides[VertexId(ghost)] == 7
    assert stage.operator.redeploys == []


async def test_a_vertex_that_the_job_does_not_have_is_never_written(stage: Stage) -> None:
    """The operator would say that all is well."""
    job = await stage.job()
    assert await stage.realizer.realize_parallelism_overrides(job, {VertexId("e" * 32): 3}) is False
    assert stage.changes() == 0


async def test_an_excluded_vertex_keeps_what_it_has(stage: Stage) -> None:
    """It is neither changed nor written down, unless it was."""
    vertices = [vertex.id for vertex in stage.running().vertices]
    await stage.edit(job_autoscaler_vertex_exclude_ids=vertices[1])
    assert await stage.ask(1, 4) is False
    assert await stage.ask(2, 4) is True
    assert stage.resource().overrides == {vertices[0]: 2, vertices[2]: 1}


@pytest.mark.parametrize("number", [0, 129])
async def test_a_number_that_flink_would_refuse_is_refused(stage: Stage, number: int) -> None:
    """The operator would take it, fail, and redeploy the job."""
    with pytest.raises(RefusedError, match="maximum parallelism 128"):
        await stage.ask(1, number)
    assert stage.changes() == 0


async def test_a_change_is_not_made_over_somebody_elses(stage: Stage) -> None:
    """Whoever changed the resource between reading and writing has been first; the next cycle reads it anew."""
    read = stage.resource()
    await stage.edit(anything="1")
    with pytest.raises(ConflictError, match="has been modified"):
        await stage.opened[-1].api.patch(read, {"flinkConfiguration": {OVERRIDES: "x:1"}})


async def test_a_request_is_not_repeated_while_the_operator_may_be_at_it(stage: Stage) -> None:
    """It may look only after half a minute; a second patch would hurry nothing."""
    await stage.ask(1, 4)
    assert await stage.ask(1, 4) is False
    stage.seconds = LATER_S
    assert await stage.ask(1, 4) is False  # it has not seen the change yet
    assert stage.changes() == 1


async def test_what_a_restart_has_undone_is_asked_for_again(stage: Stage) -> None:
    """
    Flink 2 starts a job without its overrides, and the operator does nothing: all is written as it should be.

    A number of a vertex that nobody has makes it look again, and another one the next time.
    """
    await stage.ask(1, 4)
    await stage.operator.look()
    stage.parallelism()
    for _ in range(2):
        stage.running().request({vertex.id: (1, 1) for vertex in stage.running().vertices})  # as a restart would
        assert stage.parallelism() == [1, 1, 1]
        assert await stage.ask(1, 4) is False
        stage.seconds += LATER_S
        assert await stage.ask(1, 4) is True
        await stage.operator.look()
        assert stage.parallelism() == [1, 4, 1]
    assert stage.operator.redeploys == []


async def test_after_a_restart_of_headgate_nobody_waits(stage: Stage) -> None:
    """It knows of no request, and the operator has settled: whatever is not so now will not become so."""
    await stage.ask(1, 4)
    await stage.operator.look()
    stage.parallelism()
    stage.running().request({vertex.id: (1, 1) for vertex in stage.running().vertices})
    stage.look()
    assert await stage.ask(1, 4) is True


async def test_vertices_that_are_not_named_keep_what_flink_is_asked_for(stage: Stage) -> None:
    """What a restart has undone elsewhere in the job was not decided now."""
    await stage.write(",".join(f"{vertex.id}:2" for vertex in stage.running().vertices))
    stage.running().request({vertex.id: (1, 1) for vertex in stage.running().vertices})
    await stage.ask(5)
    assert stage.written() == [5, 1, 1]


async def test_what_is_written_and_not_heard_yet_stays_written(stage: Stage) -> None:
    """A second wish comes before the operator has looked; both hold."""
    await stage.ask(1, 4)
    await stage.ask(2)
    await stage.operator.look()
    assert stage.parallelism() == [2, 4, 1]


async def test_the_operators_own_autoscaler_swallows_what_others_write(stage: Stage) -> None:
    """So nothing is written where it is on; where it only advises, it does no harm."""
    await stage.edit(job_autoscaler_enabled="true")
    with pytest.raises(RefusedError, match="own autoscaler scales flinkdeployments/orders"):
        await stage.ask(1, 4)
    assert stage.changes() == 0
    await stage.edit(job_autoscaler_scaling_enabled="false")
    assert await stage.ask(1, 4) is True


@pytest.mark.parametrize(
    ("spec", "configuration", "why"),
    [
        ({"mode": "standalone"}, {}, "its mode is standalone"),
        ({}, {"scheduler__mode": "reactive"}, "its scheduler-mode is reactive"),
        ({}, {"kubernetes_operator_job_upgrade_inplace__scaling_enabled": "false"}, "inplace-scaling is turned off"),
        ({"flinkVersion": "v1_17"}, {}, "its Flink is older than 1.18"),
    ],
)
async def test_what_the_operator_would_redeploy_is_refused(
    stage: Stage, spec: dict[str, Any], configuration: dict[str, str], why: str
) -> None:
    """Unless its owner has allowed that."""
    await stage.edit(spec, **configuration)
    with pytest.raises(RefusedError, match=f"{why}; a redeploy is not allowed. Hint: `upgrades"):
        await stage.ask(4, 4, 4)
    assert stage.changes() == 0


async def test_a_job_without_the_adaptive_scheduler_is_not_rescaled_in_place(stage: Stage) -> None:
    """What Flink says of the job counts, not what is written."""
    stage.running().scheduler = "Default"
    with pytest.raises(RefusedError, match=r"its jobmanager\.scheduler is not adaptive"):
        await stage.ask(4, 4, 4)


async def test_a_redeploy_that_is_allowed_is_made(stage: Stage) -> None:
    """Flink 2 starts the job at its own parallelism: all vertices get one, and it is the job's."""
    stage.look(upgrades=Upgrades.WITH_STATE)
    stage.running().scheduler = "Default"
    with pytest.raises(RefusedError, match=r"cannot have different numbers \(1, 4\)"):
        await stage.ask(1, 4)
    assert await stage.ask(4, 4, 4) is True
    await stage.operator.look()
    assert stage.operator.redeploys == ["orders"]
    assert stage.parallelism() == [4, 4, 4]
    assert await stage.ask(4, 4, 4) is False


async def test_a_redeploy_is_not_made_over_a_vertex_that_is_excluded(stage: Stage) -> None:
    """Flink 2 would start that one at the others' number, though nobody may change it."""
    stage.look(upgrades=Upgrades.WITH_STATE)
    stage.running().scheduler = "Default"
    await stage.edit(job_autoscaler_vertex_exclude_ids=stage.running().vertices[1].id)
    with pytest.raises(RefusedError, match=r"cannot have different numbers \(1, 4\)"):
        await stage.ask(4, 4, 4)
    assert stage.changes() == 0


async def test_flink_1_is_redeployed_with_a_number_for_each_vertex(stage: Stage) -> None:
    """It starts a job with its overrides."""
    stage.look(upgrades=Upgrades.WITH_STATE)
    await stage.edit({"flinkVersion": "v1_20", "mode": "standalone"})
    assert await stage.ask(1, 4) is True
    assert stage.api.bodies()[0]["spec"].keys() == {"flinkConfiguration"}


async def test_a_redeploy_that_would_lose_the_state_takes_more_than_that(stage: Stage) -> None:
    """`stateless` starts the job from nothing."""
    await stage.edit({"mode": "standalone", "job": {"upgradeMode": "stateless"}})
    stage.look(upgrades=Upgrades.WITH_STATE)
    with pytest.raises(RefusedError, match=r"would lose its state. Hint: set its spec\.job\.upgradeMode"):
        await stage.ask(4, 4, 4)
    stage.look(upgrades=Upgrades.ALWAYS)
    assert await stage.ask(4, 4, 4) is True


async def test_a_redeploy_that_changes_nothing_is_told(stage: Stage) -> None:
    """The operator calls it done; asked again it would do the same."""
    stage.look(upgrades=Upgrades.WITH_STATE)
    await stage.edit({"flinkVersion": "v1_20", "mode": "standalone"})
    await stage.ask(1, 4)
    await stage.operator.look()
    stage.seconds = LATER_S
    with pytest.raises(RefusedError, match="takes flinkdeployments/orders in namespace flink for done"):
        await stage.ask(1, 4)


async def test_what_the_operator_does_not_want_is_told(stage: Stage) -> None:
    """It goes on with what it had; the next good change works at once, so an old complaint refuses nothing."""
    await stage.status(error="an old complaint")
    assert await stage.ask(1, 4) is True
    await stage.status(error="no such thing")
    with pytest.raises(RefusedError, match="no such thing"):
        await stage.ask(1, 4)


async def test_a_redeploy_in_place_of_a_rescale_is_an_alarm(stage: Stage) -> None:
    """It is told with the job, and nothing more is asked of the operator until somebody has changed the resource."""
    await stage.ask(1, 4)
    await stage.status(lifecycleState="SUSPENDED")
    assert "redeployed the job where it should have rescaled it" in (await stage.job()).faults[0]
    await stage.status(lifecycleState="STABLE")
    with pytest.raises(RefusedError, match="until somebody changes the resource"):
        await stage.ask(1, 5)
    await stage.edit(anything="1")
    assert (await stage.job()).faults == ()


async def test_a_rescale_that_a_release_calls_an_upgrade_is_no_alarm(stage: Stage) -> None:
    """Neither while it is under way nor afterwards: the next one is asked for as the first was."""
    stage.operator.released = True
    await stage.ask(1, 4)
    await stage.operator.look()
    assert stage.resource().lifecycle == "UPGRADING"
    assert (await stage.job()).faults == ()
    await stage.operator.look()
    assert await stage.ask(1, 5) is True


async def test_a_job_whose_id_was_not_known_yet_is_no_other_job(stage: Stage) -> None:
    """The operator may learn it only after our change."""
    known = stage.resource().status["jobStatus"]
    await stage.status(jobStatus={**known, "jobId": ""})
    await stage.ask(1, 4)
    await stage.status(jobStatus=known)
    assert (await stage.job()).faults == ()


async def test_a_redeploy_long_after_is_the_operators_business(stage: Stage) -> None:
    """It starts a job anew that has failed, for example, under another id."""
    await stage.ask(1, 4)
    await stage.operator.look()
    stage.seconds = LATER_S
    await stage.status(jobStatus={"jobId": "c" * 32, "state": "RUNNING"})
    assert (await stage.job()).faults == ()
    assert await stage.ask(1, 5) is True


async def test_a_job_that_does_not_run_is_not_asked_for(stage: Stage) -> None:
    """Unless a rescale is to be taken back: that may be why."""
    job = replace(await stage.job(), status=JobStatus.RESTARTING)
    assert await stage.realizer.realize_parallelism_overrides(job, stage.wish(1, 4)) is False
    back = intent(stage.wish(4), stage.wish(2), takes_back="x")
    await stage.write(f"{stage.running().vertices[0].id}:4")
    assert await stage.realizer.realize_parallelism_overrides(replace(job, intent=back), stage.wish(2)) is True


async def test_a_job_that_somebody_else_has_changed_is_left_alone(stage: Stage) -> None:
    """It is not where the change was to begin, nor on the way."""
    job = await stage.job()
    elsewhere = intent(stage.wish(6), stage.wish(8))
    with pytest.raises(ConflictError, match="has 1, not from 6 to 8"):
        await stage.realizer.realize_parallelism_overrides(replace(job, intent=elsewhere), stage.wish(8))
    back = replace(elsewhere, takes_back="x")
    with pytest.raises(OvertakenError, match="has 1, not from 6 to 8"):
        await stage.realizer.realize_parallelism_overrides(replace(job, intent=back), stage.wish(8))
    assert stage.changes() == 0


async def test_a_job_whose_resource_is_gone_is_not_found(stage: Stage) -> None:
    """Nobody waits for it."""
    job, clicks = await stage.job(), await stage.job("clicks")
    del stage.api.objects[Plural.DEPLOYMENT, "flink", "orders"]
    with pytest.raises(NotFoundError):
        await stage.realizer.realize_parallelism_overrides(job, stage.wish(1, 4))
    del stage.api.objects[Plural.SESSION_JOB, "flink", "clicks"]
    await stage.fetcher.fetch()
    with pytest.raises(NotFoundError, match="no job of a FlinkSessionJob"):
        await stage.realizer.realize_parallelism_overrides(clicks, stage.wish(2, job="clicks"))


@pytest.mark.parametrize("verb", ["get", "patch"])
async def test_a_missing_right_is_named(stage: Stage, verb: str) -> None:
    """Whoever runs the cluster must grant it."""
    stage.api.forbidden = {(verb, "flinkdeployments")}
    with pytest.raises(RefusedError, match=f"the verb {verb} on flinkdeployments of group"):
        await stage.ask(1, 4)


async def test_who_is_asked_depends_on_the_job(stage: Stage) -> None:
    """The operator for its jobs, Flink for those that name it so, whatever stood before for those of other clusters."""
    elsewhere, job = SimulatedStage(), await stage.job()
    router = KubernetesScalingRealizer(stage.realizer, stage.opened, elsewhere.realizer)
    assert await router.realize_parallelism_overrides(elsewhere.job, elsewhere.wish)
    past = replace(job, options=replace(job.options, realizer=REST))
    assert await router.realize_parallelism_overrides(past, stage.wish(1, 4))
    assert (stage.changes(), stage.orders.asked(REST, "PUT")) == (0, 1)
    assert await router.realize_parallelism_overrides(job, stage.wish(1, 5))
    assert stage.changes() == 1


async def test_a_job_of_no_kubernetes_is_refused(stage: Stage) -> None:
    """Where the realizer is named for a job that it cannot know."""
    with pytest.raises(RefusedError, match="declare it under `kubernetes`"):
        await FlinkOperatorRealizer(()).realize_parallelism_overrides(await stage.job(), stage.wish(2))
