"""Changing parallelism through the resource requirements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.engines.flink.client import FlinkClient
from headgate.engines.flink.realizer import ResourceRequirementsRealizer, merge_overrides
from headgate.errors import ConflictError, NotFoundError, RefusedError, UnreachableError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.model.measures import JobStatus
from headgate.model.state import Intent
from headgate.options.deviations import Parity
from headgate.ports import JobContext
from headgate.testing.builders import at
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob
from headgate.testing.faults import Fault, FaultKind
from headgate.testing.watch import FlinkWatch

WORK = VertexId("w" * 32)


def intent(before: int, after: int) -> Intent:
    """Mean to change the vertex in the middle."""
    return Intent(
        decision_id="d",
        decided_at=at(0),
        job_id="j",
        fingerprint="f",
        before={WORK: before},
        after={WORK: after},
        deadline=at(60),
    )


@pytest.fixture
def realizer(client: FlinkClient) -> ResourceRequirementsRealizer:
    """Give the realizer of the fake cluster."""
    return ResourceRequirementsRealizer({"fake": client})


@pytest.fixture
def context(watch: FlinkWatch) -> JobContext:
    """Give the job."""
    return watch.context


async def test_all_vertices_go_into_one_request(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink, job: FakeJob
) -> None:
    """The one that is named gets its new upper bound, the others keep theirs."""
    assert await realizer.realize_parallelism_overrides(context, {WORK: 5})
    sent = server.requests[-1]
    assert sent.method == "PUT"
    assert sent.body == {
        vertex.id: {"parallelism": {"lowerBound": 1, "upperBound": 5 if vertex.id == WORK else 1}}
        for vertex in job.vertices
    }
    server.advance(1)
    job.advance_to(server.now_ms)
    assert job["work"].parallelism == 5


async def test_asking_again_sends_nothing(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink, job: FakeJob
) -> None:
    """Also while the job still runs at its old parallelism."""
    job.rescale_delay_s = 60
    assert await realizer.realize_parallelism_overrides(context, {WORK: 5})
    assert not await realizer.realize_parallelism_overrides(context, {WORK: 5})
    assert job["work"].parallelism == 2
    assert server.asked("resource-requirements", "PUT") == 1


async def test_a_lower_bound_is_kept_unless_it_would_be_above_the_upper(
    realizer: ResourceRequirementsRealizer, context: JobContext, job: FakeJob
) -> None:
    """Somebody may have set it on purpose; it only ever comes down."""
    job["work"].lower_bound = 2
    await realizer.realize_parallelism_overrides(context, {WORK: 4})
    assert (job["work"].lower_bound, job["work"].upper_bound) == (2, 4)
    await realizer.realize_parallelism_overrides(context, {WORK: 1})
    assert (job["work"].lower_bound, job["work"].upper_bound) == (1, 1)


@pytest.mark.parametrize(("before", "after"), [(3, 5), (1, 1), (6, 4)])
async def test_a_job_that_somebody_else_has_changed_is_left_alone(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink, before: int, after: int
) -> None:
    """It runs at 2: a request that comes late, from a process that was frozen, must not undo what came after it."""
    late = replace(context, intent=intent(before, after))
    with pytest.raises(ConflictError, match=f"runs at 2, not from {before} to {after}: nothing was sent"):
        await realizer.realize_parallelism_overrides(late, {WORK: after})
    assert server.asked("resource-requirements", "PUT") == 0


@pytest.mark.parametrize(("before", "after"), [(2, 5), (1, 4), (3, 1)])
async def test_a_job_on_its_way_is_asked_for_the_rest(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink, before: int, after: int
) -> None:
    """Flink may have found slots for a part; what runs is looked at only when something is sent."""
    going = replace(context, intent=intent(before, after))
    assert await realizer.realize_parallelism_overrides(going, {WORK: after})
    assert not await realizer.realize_parallelism_overrides(going, {WORK: after})
    assert server.asked(f"/jobs/{context.job_id}") == 1


async def test_a_rollback_is_asked_of_a_job_that_does_not_run(
    realizer: ResourceRequirementsRealizer, context: JobContext, job: FakeJob
) -> None:
    """Its rescale may be why; how it ran last is no sign of who has changed it, what it is asked to have is."""
    job["work"].upper_bound = 5
    down = replace(context, status=JobStatus.RESTARTING)
    back = replace(intent(5, 1), takes_back="d0")
    assert not await realizer.realize_parallelism_overrides(replace(down, intent=intent(5, 1)), {WORK: 1})
    assert await realizer.realize_parallelism_overrides(replace(down, intent=back), {WORK: 1})
    assert job["work"].upper_bound == 1
    assert not await realizer.realize_parallelism_overrides(replace(down, intent=back), {WORK: 1})


async def test_a_rollback_of_what_somebody_else_has_changed_since_is_refused(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink, job: FakeJob
) -> None:
    """Who asks for something else by now knows what is wrong with the job."""
    job["work"].upper_bound = 6
    down = replace(context, status=JobStatus.RESTARTING, intent=replace(intent(5, 1), takes_back="d0"))
    with pytest.raises(RefusedError, match="is asked to have 6 by somebody else, not 5: nothing was sent"):
        await realizer.realize_parallelism_overrides(down, {WORK: 1})
    assert server.asked("resource-requirements", "PUT") == 0


async def test_a_rollback_of_a_rescale_that_never_arrived_takes_back_the_one_before_it(
    realizer: ResourceRequirementsRealizer, context: JobContext, job: FakeJob
) -> None:
    """The job was asked for 4, then for 13 without an answer, and is sick by the 4: that is ours as well."""
    job["work"].upper_bound = 4
    down = replace(context, status=JobStatus.RESTARTING, intent=replace(intent(13, 1), takes_back="d0"))
    assert await realizer.realize_parallelism_overrides(down, {WORK: 1})
    assert job["work"].upper_bound == 1


async def test_vertices_that_the_job_does_not_have_are_ignored(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink
) -> None:
    """A decision may be older than the graph."""
    assert not await realizer.realize_parallelism_overrides(context, {VertexId("gone"): 5})
    assert server.asked("resource-requirements", "PUT") == 0


async def test_what_flink_refuses_is_refused(
    realizer: ResourceRequirementsRealizer, context: JobContext, job: FakeJob
) -> None:
    """Above the maximum parallelism, or with a scheduler that cannot: waiting does not help."""
    with pytest.raises(RefusedError, match="exceeds its maximum parallelism 128"):
        await realizer.realize_parallelism_overrides(context, {WORK: 500})
    job.scheduler = "Default"
    with pytest.raises(RefusedError, match="DefaultScheduler does not support"):
        await realizer.realize_parallelism_overrides(context, {WORK: 5})


async def test_a_job_that_is_gone(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink
) -> None:
    """It is reported as such, so that its state can be closed."""
    server.vanish(context.job_id)
    with pytest.raises(NotFoundError, match="not found"):
        await realizer.realize_parallelism_overrides(context, {WORK: 5})


async def test_a_change_is_never_sent_twice_by_itself(
    hasty: FlinkClient, context: JobContext, server: FakeFlink
) -> None:
    """Without an answer it is not known what Flink did; the next cycle looks."""
    realizer = ResourceRequirementsRealizer({"fake": hasty})
    server.plant(Fault(method="PUT", kind=FaultKind.HANG))
    with pytest.raises(UnreachableError, match=r"PUT .*was not answered"):
        await realizer.realize_parallelism_overrides(context, {WORK: 5})
    assert server.asked("resource-requirements", "PUT") == 1


async def test_configuration_cannot_change(realizer: ResourceRequirementsRealizer, context: JobContext) -> None:
    """The refusal names what was wanted."""
    with pytest.raises(RefusedError, match=r"taskmanager\.memory"):
        await realizer.realize_config_overrides(context, ConfigChanges(overrides={"taskmanager.memory": "1g"}))


def test_the_autoscalers_parallelism_replaces_the_jobs_own() -> None:
    """But not that of an excluded vertex, and nothing is merged when nothing is wanted."""
    own = {VertexId("a"): 1, VertexId("b"): 2, VertexId("c"): 3}
    wanted = {VertexId("a"): 8, VertexId("b"): 9, VertexId("d"): 4}
    assert merge_overrides(own, wanted, frozenset({"b", "d"})) == {"a": 8, "b": 2, "c": 3, "d": 4}
    assert merge_overrides(own, {}, frozenset()) == {}


async def test_a_vertex_that_was_excluded_meanwhile_keeps_what_it_has(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink
) -> None:
    """The intent was made before; the other vertices are changed all the same."""
    options = replace(context.options, vertex_exclude_ids=(WORK,))
    excluding = replace(context, options=options)
    assert not await realizer.realize_parallelism_overrides(excluding, {WORK: 5})
    assert await realizer.realize_parallelism_overrides(excluding, {WORK: 5, VertexId("z" * 32): 3})
    bounds = {vertex: each["parallelism"]["upperBound"] for vertex, each in server.requests[-1].body.items()}
    assert bounds == {"s" * 32: 1, WORK: 2, "z" * 32: 3}


async def test_a_job_that_does_not_run_is_not_asked(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink
) -> None:
    """It could not tell what it has."""
    starting = replace(context, status=JobStatus.STARTING)
    assert not await realizer.realize_parallelism_overrides(starting, {WORK: 5})
    assert not server.requests


async def test_by_parity_a_change_opens_the_lower_bound(
    realizer: ResourceRequirementsRealizer, context: JobContext, server: FakeFlink, job: FakeJob
) -> None:
    """As the reference does, which gives up what the owner wanted at least."""
    job["work"].lower_bound = 2
    reference = replace(context, options=replace(context.options, parity=Parity.REFERENCE))
    assert await realizer.realize_parallelism_overrides(reference, {WORK: 5})
    assert server.requests[-1].body[WORK]["parallelism"] == {"lowerBound": 1, "upperBound": 5}
