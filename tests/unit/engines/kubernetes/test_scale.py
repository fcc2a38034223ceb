"""A job through the scale of its resource: one number for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.engines.kubernetes.conftest import Stage

from headgate.engines.flink.numbers import instant
from headgate.engines.kubernetes.resources import GROUP, VERSION, Plural
from headgate.engines.kubernetes.scale import ScaleSubresourceRealizer
from headgate.errors import RefusedError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus
from headgate.model.state import Intent
from headgate.options.autoscaler import AutoscalerOptions
from headgate.ports import JobContext
from headgate.testing.fake_flink import START_MS

A, B = VertexId("a"), VertexId("b")
AT = instant(START_MS)
JOB = JobContext(key=JobKey("k8s", "orders"), job_id="j", status=JobStatus.RUNNING, options=AutoscalerOptions())
DECIDED = Intent(
    decision_id="d",
    decided_at=AT,
    job_id="j",
    fingerprint="f",
    before={A: 2, B: 5},
    after={A: 3},
    deadline=AT + timedelta(minutes=5),
)


def realizer(stage: Stage, **parameters: str) -> ScaleSubresourceRealizer:
    """Give one for the deployment."""
    place = {"group": GROUP, "version": VERSION, "plural": Plural.DEPLOYMENT, "namespace": "flink", "name": "orders"}
    return ScaleSubresourceRealizer({**place, "kubeconfig": stage.options.kubeconfig, **parameters})


async def replicas(stage: Stage, wish: Mapping[VertexId, int], job: JobContext = JOB, *, slots: str = "1") -> int:
    """Ask for a wish and give the replicas after it."""
    await stage.edit({"taskManager": {"replicas": 1}})
    await realizer(stage, **{"slots-per-replica": slots}).realize_parallelism_overrides(job, wish)
    return int(stage.resource().spec["taskManager"]["replicas"])


@pytest.mark.parametrize(("slots", "expected"), [("1", 7), ("2", 4), ("7", 1), ("8", 1)])
async def test_there_are_as_many_replicas_as_the_widest_vertex_needs(stage: Stage, slots: str, expected: int) -> None:
    """All vertices share slots; a replica that is not full is one all the same."""
    assert await replicas(stage, {A: 3, B: 7}, slots=slots) == expected


async def test_a_vertex_that_does_not_change_needs_its_slots_all_the_same(stage: Stage) -> None:
    """The wish names those that change; the intent knows the others."""
    assert await replicas(stage, {A: 3}, replace(JOB, intent=DECIDED)) == 5


async def test_a_job_that_does_not_run_is_left_alone(stage: Stage) -> None:
    """Unless a rescale is to be taken back."""
    job = replace(JOB, status=JobStatus.RESTARTING, intent=DECIDED)
    assert await replicas(stage, {A: 9}, job) == 1
    assert await replicas(stage, {A: 9}, replace(job, intent=replace(DECIDED, takes_back="x"))) == 9


async def test_a_number_that_nobody_has_set_is_not_set(stage: Stage) -> None:
    """In native mode it would redeploy the job; whoever wants it so sets it once."""
    with pytest.raises(RefusedError, match=r"has no number of replicas yet\. Hint: set one by hand"):
        await realizer(stage).realize_parallelism_overrides(JOB, {A: 3})
    assert stage.changes() == 0


@pytest.mark.parametrize("verb", ["get", "patch"])
async def test_a_missing_right_is_named(stage: Stage, verb: str) -> None:
    """That to the resource does not cover it."""
    await stage.edit({"taskManager": {"replicas": 1}})
    stage.api.forbidden = {(verb, "flinkdeployments/scale")}
    with pytest.raises(RefusedError, match=f"the verb {verb} on flinkdeployments/scale"):
        await realizer(stage).realize_parallelism_overrides(JOB, {A: 3})


async def test_configuration_is_refused(stage: Stage) -> None:
    """A scale is a number."""
    with pytest.raises(RefusedError, match=r"only the replicas of .* not its configuration \(a\.b\)"):
        await realizer(stage).realize_config_overrides(JOB, ConfigChanges(overrides={"a.b": "c"}))


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"slots-per-replica": "none"}, "slots-per-replica is 'none'"),
        ({"slots-per-replica": "0"}, "above zero"),
        ({"slots": "2"}, "unknown parameter slots"),
        ({"request-timeout": "0"}, "request-timeout must be above zero"),
        ({"name": " "}, "parameter name is missing"),
        ({"kind": "Deployment"}, "without kind"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: Mapping[str, str], why: str) -> None:
    """When it is made."""
    place = {"group": GROUP, "version": VERSION, "plural": "things", "name": "orders"}
    with pytest.raises(ValueError, match=why):
        ScaleSubresourceRealizer({**place, **parameters})
